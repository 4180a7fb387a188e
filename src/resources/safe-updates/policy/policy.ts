import Type from 'typebox'
import { nullable, oneOf, Timestamp, timestamp } from '../../../platform/http/schemas.ts'

/** What a policy updates, and when. `security` looks once a day. */
export const policyModes = ['off', 'security', 'weekly', 'daily'] as const
export type PolicyMode = (typeof policyModes)[number]
/** `inherit`: the default of the account that owns the site. */
export const sitePolicyModes = ['inherit', ...policyModes] as const
export type SitePolicyMode = (typeof sitePolicyModes)[number]

/** In the order of `Date.getUTCDay`. */
export const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const
export type Weekday = (typeof weekdays)[number]

/** The most plugins and themes that a policy leaves out. */
export const MOST_EXCLUDED = 100

/** When a site is updated safely without a request. */
export interface UpdatePolicy<Mode extends string = PolicyMode> {
  readonly mode: Mode
  /** For `weekly`. */
  readonly weekday: Weekday
  readonly hour: number
  readonly timeZone: string
  /** Folders of plugins and themes that it never updates. */
  readonly exclude: readonly string[]
}
export type SitePolicy = UpdatePolicy<SitePolicyMode>

/** The policy of an account that has chosen nothing. */
export const usualPolicy: UpdatePolicy = { mode: 'off', weekday: 'sunday', hour: 3, timeZone: 'UTC', exclude: [] }
/** The policy of a new site. */
export const usualSitePolicy: SitePolicy = { ...usualPolicy, mode: 'inherit' }

/** Returns the policy that counts for a site. A site that inherits leaves out what either policy leaves out. */
export function effectivePolicy(ofSite: SitePolicy, ofAccount: UpdatePolicy): UpdatePolicy {
  const { mode } = ofSite
  if (mode !== 'inherit') return { ...ofSite, mode }
  return { ...ofAccount, exclude: [...new Set([...ofAccount.exclude, ...ofSite.exclude])] }
}

const whenFields = {
  weekday: oneOf(weekdays, { description: 'Day of a weekly update', examples: ['sunday'] }),
  hour: Type.Integer({
    minimum: 0,
    maximum: 23,
    description: 'Hour in which updates begin. An hour that a change of the clock skips begins when it ends',
    examples: [3],
  }),
  time_zone: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'Name of the time zone of `weekday` and `hour`, such as `Europe/Berlin`',
    examples: ['UTC'],
  }),
  exclude: Type.Array(
    Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$', maxLength: 200, examples: ['woocommerce'] }),
    { maxItems: MOST_EXCLUDED, description: 'Folders of plugins and themes that the policy never updates' },
  ),
}

const ABOUT_MODES =
  '`off`: nothing. `security`: once a day, what has a known vulnerability that the update fixes. `weekly`, `daily`: everything with an update'

export const modeField = oneOf(policyModes, { description: ABOUT_MODES, examples: ['weekly'] })
export const siteModeField = oneOf(sitePolicyModes, {
  description: `\`inherit\`: the default of the account that owns the site. ${ABOUT_MODES}`,
  examples: ['weekly'],
})

/** Fields of a change. Absent ones stay. */
export const changeOf = <Mode extends Type.TSchema>(mode: Mode) => ({
  mode: Type.Optional(mode),
  weekday: Type.Optional(whenFields.weekday),
  hour: Type.Optional(whenFields.hour),
  time_zone: Type.Optional(whenFields.time_zone),
  exclude: Type.Optional(whenFields.exclude),
})

const hasFeed = Type.Boolean({
  description: 'Whether the operator has set a feed of vulnerabilities. Without one, `security` updates nothing',
  examples: [true],
})

export const AccountPolicySchema = Type.Object(
  { mode: modeField, ...whenFields, has_feed: hasFeed },
  { title: 'DefaultUpdatePolicy' },
)

export const SitePolicySchema = Type.Object(
  {
    mode: siteModeField,
    ...whenFields,
    effective: Type.Object(
      { mode: modeField, ...whenFields },
      { title: 'EffectiveUpdatePolicy', description: 'The policy that counts, with what the site inherits' },
    ),
    next_at: nullable(
      Type.String({ description: 'When Stead looks for updates next', examples: ['2026-02-01T03:00:00.000Z'] }),
    ),
    undone: Type.Array(
      Type.Object(
        {
          kind: oneOf(['plugin', 'theme'], { examples: ['plugin'] }),
          name: Type.String({ description: 'Folder of the plugin or theme', examples: ['akismet'] }),
          version: Type.String({ examples: ['5.4'] }),
          update_id: Type.Integer({ description: 'ID of the safe update', examples: [42] }),
          undone_at: Timestamp,
          is_retried: Type.Boolean({
            description: 'Whether the policy tries it again alone, because it was undone together with others',
            examples: [false],
          }),
        },
        { title: 'UndoneUpdate' },
      ),
      {
        description:
          'Versions whose update was undone or failed. The policy does not install them again, or tries them one at a time',
      },
    ),
    has_feed: hasFeed,
  },
  { title: 'UpdatePolicy' },
)

export const presentPolicy = <Mode extends string>({ mode, weekday, hour, timeZone, exclude }: UpdatePolicy<Mode>) => ({
  ...{ mode, weekday, hour, time_zone: timeZone, exclude: [...exclude] },
})

/** A version that was undone, or failed. */
export interface UndoneVersion {
  readonly kind: 'plugin' | 'theme'
  readonly slug: string
  readonly version: string
  readonly operationId: number
  readonly undoneAt: number
  /** It was undone together with others, so it is tried again alone. */
  readonly isSuspect: boolean
}

export const presentUndone = ({ kind, slug, version, operationId, undoneAt, isSuspect }: UndoneVersion) => ({
  ...{ kind, name: slug, version, update_id: operationId, undone_at: timestamp(undoneAt), is_retried: isSuspect },
})

/** Describes a policy for the activity log. */
export function describePolicy({ mode, weekday, hour, timeZone }: SitePolicy): string {
  if (mode === 'off' || mode === 'inherit') return mode
  const at = `${String(hour).padStart(2, '0')}:00 (${timeZone})`
  return mode === 'weekly' ? `weekly, on ${weekday} at ${at}` : `${mode}, ${mode === 'daily' ? '' : 'daily '}at ${at}`
}
