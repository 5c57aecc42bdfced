/* Access control lists, and the identities by which sessions are known: the
 * schemes world, auth, digest and ip. */
#ifndef ZKLOCK_VIRTUAL_ACL_H
#define ZKLOCK_VIRTUAL_ACL_H

#include "arena.h"
#include "messages.h"

#pragma GCC visibility push(hidden)

/* Entries that do not change; of identities the permissions mean nothing. */
struct acl_list {
  int keepers, count;
  struct zk_acl *entries;
};

struct acl_list *acl_list_new(const struct zk_acls *acls);
struct acl_list *acl_list_keep(struct acl_list *list);
void acl_list_drop(struct acl_list *list);
/* Anyone may do anything. */
struct acl_list *acl_list_open(void);

/* The identities of a new connection. */
struct acl_list *identities_of(const char *address);
/* What a ZK_AUTH request makes of them; drops `identities`.  False: it is
 * refused, and they stay as they are. */
bool identities_add(struct acl_list **identities, const char *scheme,
                    const struct zk_data *credential, const char *address);

/* Is one of these permissions granted? */
bool acl_grants(const struct acl_list *acls, int32_t perms,
                const struct acl_list *identities);
/* The list as a node of this session has it; NULL: it is invalid. */
struct acl_list *acl_list_checked(const struct zk_acls *acls,
                                  const struct acl_list *identities);
/* As getACL shows it: without ADMIN the hashes of digests are hidden. */
struct zk_acls acl_list_shown(const struct acl_list *acls, bool hides,
                              struct arena *arena);
/* As whoAmI shows identities: users without their hashes. */
struct zk_acls identities_shown(const struct acl_list *identities,
                                struct arena *arena);

#pragma GCC visibility pop

#endif
