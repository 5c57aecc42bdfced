/* Access control lists (ACLs) and the identities of sessions, as the virtual
 * servers check them. The schemes are world, auth, digest and ip. */
#ifndef ZKLOCK_VIRTUAL_ACL_H
#define ZKLOCK_VIRTUAL_ACL_H

#include "arena.h"
#include "messages.h"

#pragma GCC visibility push(hidden)

/* An immutable list of entries: an ACL, or the identities of a session.
 * `keepers` is the number of references to the list. The permissions of
 * identities have no meaning. */
struct acl_list {
  int keepers, count;
  struct zk_acl *entries;
};

struct acl_list *acl_list_new(const struct zk_acls *acls);
struct acl_list *acl_list_keep(struct acl_list *list);
void acl_list_drop(struct acl_list *list);
/* Returns an ACL that grants everyone all permissions. */
struct acl_list *acl_list_open(void);

/* Returns the identities of a new connection from this address. */
struct acl_list *identities_of(const char *address);
/* Adds the identity that a credential (a ZK_AUTH request) proves. If the
 * session does not have this identity yet, replaces `*identities` by a new
 * list. If servers do not know the scheme, changes nothing and returns
 * false. */
bool identities_add(struct acl_list **identities, const char *scheme,
                    const struct zk_data *credential, const char *address);

/* Returns true if the list `acls` grants at least one of the permissions in
 * `perms` to one of the identities. */
bool acl_grants(const struct acl_list *acls, int32_t perms,
                const struct acl_list *identities);
/* Checks the ACL of a request; `identities` are those of the request's session.
 * Returns the list as a server stores it: the identities replace the entry
 * "auth". Returns NULL if the list is invalid. */
struct acl_list *acl_list_checked(const struct zk_acls *acls,
                                  const struct acl_list *identities);
/* Returns the list as getACL returns it to a client. If `hides` is true, hides
 * the password hashes of the scheme digest. Servers do so for clients without
 * the permission ADMIN. */
struct zk_acls acl_list_shown(const struct acl_list *acls, bool hides,
                              struct arena *arena);
/* Returns the identities as whoAmI returns them: users without their password
 * hashes. */
struct zk_acls identities_shown(const struct acl_list *identities,
                                struct arena *arena);

#pragma GCC visibility pop

#endif
