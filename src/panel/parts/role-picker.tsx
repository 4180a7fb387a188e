import { useSignal } from '@preact/signals'
import { presetTexts as texts } from '../texts/site/collaborators.ts'
import { allRoles, type Role, RoleBoxes, tickedRoles } from './roles.tsx'

const developer: readonly Role[] = [
  ...(['wp_access', 'plugin_management_access', 'db_admin_access', 'sftp_access'] as const),
  ...(['update_site_cms_version', 'update_site_php_version', 'download_backups', 'restore_site'] as const),
  ...(['clone_site', 'manage_dns', 'manage_performance', 'manage_notes', 'execute_bulk_operations'] as const),
]

/** Presets of roles on a site, by purpose. */
export const presets = {
  administrator: allRoles,
  developer,
  editor: ['wp_access', 'manage_notes'],
  viewer: [],
} as const satisfies Readonly<Record<string, readonly Role[]>>

export type Preset = keyof typeof presets | 'custom'

const names = [...(Object.keys(presets) as (keyof typeof presets)[]), 'custom'] as const

/** A role without its own page in the panel. It does not affect the preset. */
const counted = (roles: readonly Role[]): string =>
  roles
    .filter((role) => role !== 'manage_git')
    .toSorted()
    .join()

/** Returns the preset with exactly these roles. */
export const presetOf = (roles: readonly Role[]): Preset =>
  names.find((name) => name !== 'custom' && counted(presets[name]) === counted(roles)) ?? 'custom'

/** Returns the roles that were chosen in a form with a {@link RolePicker}. */
export const rolesChosen = (values: Readonly<Record<string, string>>): Role[] => {
  const preset = names.find((name) => name === values.preset) ?? 'custom'
  return preset === 'custom' ? tickedRoles(values) : [...presets[preset]]
}

/** For a form: chooses one of a few presets, or single roles. */
export function RolePicker({ held, begin }: { readonly held: readonly Role[]; readonly begin?: Preset }) {
  const chosen = useSignal<Preset>(begin ?? presetOf(held))
  return (
    <>
      <fieldset class="picks wide" aria-label={texts.label}>
        {names.map((name) => (
          <label key={name} class="pick">
            <input
              type="radio"
              name="preset"
              value={name}
              checked={chosen.value === name}
              onChange={() => {
                chosen.value = name
              }}
            />
            <span>
              <b>{texts.names[name]}</b>
              <span class="quiet small">{texts.about[name]}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {/* They keep the ticked roles while another preset is selected. */}
      <div hidden={chosen.value !== 'custom'}>
        <RoleBoxes held={held} />
      </div>
    </>
  )
}
