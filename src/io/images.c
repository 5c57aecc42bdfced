/* Finds and rewrites the import tables of shared libraries in memory. This file
 * supports only systems whose tables contain plain addresses of functions. */
#include "images.h"

#ifdef IMAGES

#include <elf.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* DT_JMPREL is the greatest tag that is used here. */
enum { TAGS = DT_JMPREL + 1 };

bool image_has(const struct image *image, const void *address) {
  return (uintptr_t)address >= image->from && (uintptr_t)address < image->to;
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

/* The arguments of image_bind. */
struct binding {
  const struct image *image;
  image_chooser *choose;
  void *self;
};

/* Returns the new address for the symbol `s`, or 0 if its address must not be
 * changed. */
static uintptr_t wanted(const struct binding *b, const ElfW(Sym) * s) {
  bool imported = s->st_shndx == SHN_UNDEF;
  if ((s->st_info & 15) == STT_TLS) return 0;
  return (uintptr_t)
      b->choose(b->self, b->image->strings + s->st_name,
                imported ? NULL : (const void *)(b->image->base + s->st_value));
}

static bool patch(const struct binding *b, uintptr_t offset,
                  unsigned long symbol, uintptr_t addend) {
  uintptr_t address = symbol ? wanted(b, &b->image->symbols[symbol]) : 0;
  return !address ||
         write_slot(b->image, b->image->base + offset, address + addend);
}

#if __ELF_NATIVE_CLASS == 64 || defined(__LP64__)
#define SYMBOL(info) ELF64_R_SYM(info)
#else
#define SYMBOL(info) ELF32_R_SYM(info)
#endif

static bool patch_table(const struct binding *b, uintptr_t table, size_t size,
                        bool with_addends) {
  bool ok = true;
  size_t step = with_addends ? sizeof(ElfW(Rela)) : sizeof(ElfW(Rel));
  for (size_t at = 0; table && ok && at < size; at += step) {
    const ElfW(Rela) *r = (const ElfW(
        Rela) *)(table + at); /* a Rel is a Rela without an addend */
    ok = patch(b, r->r_offset, SYMBOL(r->r_info),
               with_addends ? (uintptr_t)r->r_addend : 0);
  }
  return ok;
}

/* Returns the absolute form of `address`, an address in the dynamic section; or
 * 0 for 0. glibc has made these addresses absolute already; musl leaves them
 * relative to the image. */
static uintptr_t absolute(const struct image *image, ElfW(Addr) address) {
  return address && address < image->base ? image->base + address : address;
}

bool image_bind(struct image *image, image_chooser *choose, void *self) {
  struct binding b = {image, choose, self};
  ElfW(Addr) value[TAGS] = {0}; /* by the tag of the entry */
  for (const ElfW(Dyn) *d = image->dynamic; d->d_tag != DT_NULL; d++)
    if (d->d_tag > 0 && d->d_tag < TAGS) value[d->d_tag] = d->d_un.d_ptr;
  image->strings = (const char *)absolute(image, value[DT_STRTAB]);
  image->symbols = (const ElfW(Sym) *)absolute(image, value[DT_SYMTAB]);
  return image->strings && image->symbols &&
         patch_table(&b, absolute(image, value[DT_REL]), value[DT_RELSZ],
                     false) &&
         patch_table(&b, absolute(image, value[DT_RELA]), value[DT_RELASZ],
                     true) &&
         patch_table(&b, absolute(image, value[DT_JMPREL]), value[DT_PLTRELSZ],
                     value[DT_PLTREL] == DT_RELA);
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
  /* Skips the first image: it is the program, whose imports stay unchanged. */
  return search->seen++ > 0 && found;
}

bool image_find(struct image *image, const void *inside) {
  struct search search = {.inside = (uintptr_t)inside, .image = image};
  return dl_iterate_phdr(look_at, &search) && image->dynamic;
}

#endif
