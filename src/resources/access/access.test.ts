import { describe, expect, test } from 'vitest'
import { capabilities, requireAccess, type SiteCapability } from './access.ts'
import { type Role, roles } from './roles.ts'

/**
 * A second copy of the table, from the API description and `rulings.md`, so that a mistake in the code's own table is
 * found. Contains the role that a collaborator needs (`null` for none), and whether the application needs the scope
 * `owner`, even for owners.
 */
const table: Record<SiteCapability, readonly [Role | null, 'owner'?]> = {
  'read the site': [null],
  'clone the site': ['clone_site'],
  'convert the site': ['convert_site', 'owner'],
  'disable the site': ['disable_site', 'owner'],
  'enable the site': ['enable_site', 'owner'],
  'delete the site': ['delete_site'],
  'rename the site': ['update_site_custom_name'],
  'change the PHP version': ['update_site_php_version'],
  'change the CMS version': ['update_site_cms_version'],
  'manage performance': ['manage_performance'],
  'manage DNS': ['manage_dns'],
  'add collaborators': ['create_collaborator'],
  'remove collaborators': ['delete_collaborator'],
  'reset collaborator passwords': ['reset_collaborator_password'],
  'use backups': ['download_backups'],
  'restore the site': ['restore_site'],
  'manage plugins': ['plugin_management_access'],
  'manage notes': ['manage_notes'],
  'administer the CMS': ['wp_access'],
  'use SFTP': ['sftp_access'],
  'administer the database': ['db_admin_access'],
  'change many sites at once': ['execute_bulk_operations'],
}

const rows = Object.entries(table) as [SiteCapability, (typeof table)[SiteCapability]][]

function refusal(name: SiteCapability, who: { roles: readonly Role[]; isOwned?: boolean; isOwner: boolean }) {
  const caller = { applicationId: 1, accountId: 1, accountEmail: 'a@example.com', isOwner: who.isOwner }
  const site = { id: 1, accountId: 2, name: 'a', isOwned: who.isOwned ?? false, roles: who.roles }
  try {
    requireAccess(name, caller, site as never)
    return undefined
  } catch (error) {
    return (error as { code: string }).code
  }
}

test('every capability is in the table', () => {
  expect(Object.keys(capabilities).sort()).toEqual(Object.keys(table).sort())
})

describe.each(rows)('%s', (name, [needed, scope]) => {
  test(`allows a collaborator with ${needed ? `nothing but ${needed}` : 'no role'}`, () => {
    expect(refusal(name, { roles: needed ? [needed] : [], isOwner: true })).toBeUndefined()
  })

  test.runIf(needed)('403 for one with all other roles', () => {
    expect(refusal(name, { roles: roles.filter((role) => role !== needed), isOwner: true })).toBe('forbidden')
  })

  test(scope ? '403 without the scope owner, for the owner, too' : 'the scope owner is not needed', () => {
    const expected = scope && 'insufficient_scope'
    expect(refusal(name, { roles, isOwner: false })).toBe(expected)
    expect(refusal(name, { roles: [], isOwned: true, isOwner: false })).toBe(expected)
  })

  test('the owner needs no role', () => {
    expect(refusal(name, { roles: [], isOwned: true, isOwner: true })).toBeUndefined()
  })
})
