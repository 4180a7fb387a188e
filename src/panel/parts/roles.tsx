import type { components } from '../../sdk/api.generated.ts'
import { collaboratorsTexts as texts } from '../texts/site/collaborators.ts'

export type Role = components['schemas']['CollaboratorWithRoles']['roles'][number]

/** In the order of `texts.groups`. */
const groups: readonly (readonly Role[])[] = [
  [
    ...(['wp_access', 'plugin_management_access', 'db_admin_access', 'sftp_access'] as const),
    ...(['update_site_cms_version', 'update_site_php_version'] as const),
  ],
  ['download_backups', 'restore_site', 'clone_site'],
  [
    ...(['manage_dns', 'manage_performance', 'update_site_custom_name', 'convert_site'] as const),
    ...(['enable_site', 'disable_site', 'delete_site'] as const),
  ],
  ['create_collaborator', 'delete_collaborator', 'reset_collaborator_password'],
  ['manage_notes', 'execute_bulk_operations', 'manage_git'],
]

export const allRoles: readonly Role[] = groups.flat()

/** Stead has no feature for this role. Existing ones are kept, and new ones are not offered. */
const NO_PAGE = 'manage_git' satisfies Role

/** Returns the roles that were ticked in a form with {@link RoleBoxes}. */
export const tickedRoles = (values: Readonly<Record<string, string>>): Role[] =>
  allRoles.filter((role) => values[role] === 'true')

/** A box for each role, for a form. */
export const RoleBoxes = ({ held }: { readonly held: readonly Role[] }) => (
  <div class="boxes">
    {groups.map((roles, at) => (
      <fieldset key={texts.groups[at]}>
        <legend>{texts.groups[at]}</legend>
        {roles
          .filter((role) => role !== NO_PAGE || held.includes(role))
          .map((role) => (
            <label key={role}>
              <input type="checkbox" name={role} value="true" defaultChecked={held.includes(role)} />{' '}
              {texts.roles[role]}
            </label>
          ))}
      </fieldset>
    ))}
  </div>
)
