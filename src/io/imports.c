/* A shared library calls imported functions through a table of addresses that
 * the linker has filled in. This file rewrites some of them.
 *
 * Names: the linker binds a name to the first library in the process that
 * exports it. If the process has loaded libzookeeper_mt globally, our calls
 * would reach mt's functions. So would the calls by which libzookeeper_st calls
 * itself, and they would crash. So these names are bound to the libzookeeper_st
 * that our module is linked to. RTLD_DEEPBIND is no alternative: it also binds
 * malloc and free, and with another allocator the library would free memory
 * that it has not allocated.
 *
 * Functions: six functions of the C library are replaced. For other users of
 * the library in the process, each behaves like the original. */
#include "imports.h"

/* Only for systems whose table holds plain addresses. */
#if defined(__linux__) &&                                                \
    (defined(__x86_64__) || defined(__i386__) || defined(__aarch64__) || \
     defined(__arm__) || defined(__riscv) || defined(__s390__) ||        \
     (defined(__powerpc64__) && _CALL_ELF == 2))

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <netdb.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "handshake.h"
#include "stream.h"

/* Constant once replace has run. Set if all the functions that a stream needs
 * are replaced. */
static _Atomic bool has_streams;

static int close_on_exec_socket(int domain, int type, int protocol) {
  int fd = socket(domain, type | SOCK_CLOEXEC, protocol);
  if (has_streams) {
    stream_bind(fd);
    handshake_expect(fd);
  }
  return fd;
}

/* The library passes AI_ADDRCONFIG, for which the C library takes a lock that
 * name lookups take, too: see fork.h. For a numeric address, neither the flag
 * nor the lock is needed. */
static int lockless_getaddrinfo(const char *name, const char *service,
                                const struct addrinfo *hints,
                                struct addrinfo **found) {
  struct addrinfo numeric = hints ? *hints : (struct addrinfo){0};
  numeric.ai_flags = (numeric.ai_flags & ~AI_ADDRCONFIG) | AI_NUMERICHOST;
  int rc = getaddrinfo(name, service, &numeric, found);
  return rc == EAI_NONAME ? getaddrinfo(name, service, hints, found) : rc;
}

typedef void function(void);

static struct {
  const char *name;
  function *ours;
  bool of_stream, found;
} replacements[] = {
    {"socket", (function *)close_on_exec_socket, true, false},
    {"close", (function *)stream_close, true, false},
    {"send", (function *)stream_send, true, false},
    {"recv", (function *)stream_recv, true, false},
    {"poll", (function *)stream_poll, true, false},
    {"getaddrinfo", (function *)lockless_getaddrinfo, false, false},
};
enum { REPLACEMENTS = sizeof replacements / sizeof *replacements };

static function *replacement(const char *name) {
  for (int i = 0; i < REPLACEMENTS; i++) {
    if (strcmp(name, replacements[i].name) != 0) continue;
    replacements[i].found = true;
    return replacements[i].ours;
  }
  return NULL;
}

/* Returns whether the library imports all the functions that a stream needs. A
 * compiler may have replaced some of them by others. */
static bool has_all_of_stream(void) {
  for (int i = 0; i < REPLACEMENTS; i++)
    if (replacements[i].of_stream && !replacements[i].found) return false;
  return true;
}

/* Libraries in memory. */

struct image {
  uintptr_t base, from, to;
  const ElfW(Dyn) * dynamic;
  uintptr_t relro, relro_end; /* made read-only by the linker */
  const char *strings;
  const ElfW(Sym) * symbols;
};

static struct image library, own;
static void *ourselves; /* the handle of our module, for dlsym */

static bool is_in(const struct image *image, uintptr_t address) {
  return address >= image->from && address < image->to;
}

/* Returns the new address for a name in an image; 0: unchanged. */
static uintptr_t wanted(const struct image *image, const ElfW(Sym) * s) {
  const char *name = image->strings + s->st_name;
  bool imported = s->st_shndx == SHN_UNDEF;
  if ((s->st_info & 15) == STT_TLS) return 0;
  if (image == &library)
    return imported ? (uintptr_t)replacement(name)
                    : library.base + (uintptr_t)s->st_value;
  uintptr_t address = imported ? (uintptr_t)dlsym(ourselves, name) : 0;
  return is_in(&library, address) ? address : 0;
}

static bool write_slot(const struct image *image, uintptr_t slot,
                       uintptr_t address) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  void *start = (void *)(slot & ~(page - 1));
  bool read_only = slot >= image->relro && slot < image->relro_end;
  if (*(uintptr_t *)slot == address) return true;
  if (read_only && mprotect(start, page, PROT_READ | PROT_WRITE) != 0)
    return false;
  __atomic_store_n((uintptr_t *)slot, address, __ATOMIC_RELEASE);
  if (read_only) mprotect(start, page, PROT_READ);
  return true;
}

static bool patch(const struct image *image, uintptr_t offset,
                  unsigned long symbol, uintptr_t addend) {
  uintptr_t address = symbol ? wanted(image, &image->symbols[symbol]) : 0;
  return !address || write_slot(image, image->base + offset, address + addend);
}

#if __ELF_NATIVE_CLASS == 64 || defined(__LP64__)
#define SYMBOL(info) ELF64_R_SYM(info)
#else
#define SYMBOL(info) ELF32_R_SYM(info)
#endif

static bool patch_table(const struct image *image, uintptr_t table, size_t size,
                        bool with_addends) {
  bool ok = true;
  size_t step = with_addends ? sizeof(ElfW(Rela)) : sizeof(ElfW(Rel));
  for (size_t at = 0; table && ok && at < size; at += step) {
    const ElfW(Rela) *r =
        (const ElfW(Rela) *)(table + at); /* Rel is a prefix of Rela */
    ok = patch(image, r->r_offset, SYMBOL(r->r_info),
               with_addends ? (uintptr_t)r->r_addend : 0);
  }
  return ok;
}

/* These addresses are absolute in glibc and relative in musl. */
static uintptr_t absolute(const struct image *image, ElfW(Addr) address) {
  return address < image->base ? image->base + address : address;
}

static bool patch_image(struct image *image) {
  uintptr_t rel = 0, rela = 0, calls = 0;
  size_t rel_size = 0, rela_size = 0, calls_size = 0;
  bool calls_have_addends = false;
  for (const ElfW(Dyn) *d = image->dynamic; d->d_tag != DT_NULL; d++) {
    uintptr_t address = absolute(image, d->d_un.d_ptr);
    switch (d->d_tag) {
      case DT_STRTAB:
        image->strings = (const char *)address;
        break;
      case DT_SYMTAB:
        image->symbols = (const ElfW(Sym) *)address;
        break;
      case DT_REL:
        rel = address;
        break;
      case DT_RELSZ:
        rel_size = d->d_un.d_val;
        break;
      case DT_RELA:
        rela = address;
        break;
      case DT_RELASZ:
        rela_size = d->d_un.d_val;
        break;
      case DT_JMPREL:
        calls = address;
        break;
      case DT_PLTRELSZ:
        calls_size = d->d_un.d_val;
        break;
      case DT_PLTREL:
        calls_have_addends = d->d_un.d_val == DT_RELA;
        break;
    }
  }
  return image->strings && image->symbols &&
         patch_table(image, rel, rel_size, false) &&
         patch_table(image, rela, rela_size, true) &&
         patch_table(image, calls, calls_size, calls_have_addends);
}

struct search {
  uintptr_t inside;
  int seen;
  struct image *image;
};

static int look_at(struct dl_phdr_info *info, size_t size, void *argument) {
  struct search *search = argument;
  struct image image = {.base = info->dlpi_addr, .from = UINTPTR_MAX};
  bool found = false;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    uintptr_t from = info->dlpi_addr + p->p_vaddr, to = from + p->p_memsz;
    if (p->p_type == PT_LOAD) {
      found |= search->inside >= from && search->inside < to;
      if (from < image.from) image.from = from;
      if (to > image.to) image.to = to;
    }
    if (p->p_type == PT_DYNAMIC) image.dynamic = (const ElfW(Dyn) *)from;
    if (p->p_type == PT_GNU_RELRO) {
      image.relro = from;
      image.relro_end = to;
    }
  }
  if (found) *search->image = image;
  /* The first image is the program itself: its imports stay unchanged. */
  return search->seen++ > 0 && found;
}

static bool find_image(const void *inside, struct image *image) {
  struct search search = {.inside = (uintptr_t)inside, .image = image};
  return dl_iterate_phdr(look_at, &search) && image->dynamic;
}

static const char *asked;

/* If the library is linked into our module, nothing is replaced: our functions
 * would call themselves. */
static void replace(void) {
  bool found = find_image(dlsym(ourselves, asked), &library) &&
               find_image((const void *)(uintptr_t)replace, &own) &&
               library.base != own.base;
  has_streams = found && patch_image(&library) && has_all_of_stream();
  if (found) patch_image(&own);
}

void imports_replace(void *module, const char *has) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  ourselves = module;
  asked = has;
  pthread_once(&once, replace);
}

#else

void imports_replace(void *module, const char *has) {
  (void)module;
  (void)has;
}

#endif
