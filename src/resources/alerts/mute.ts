import Type from 'typebox'
import { nullable, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import { KindField } from './alert.ts'

/** Alerts that do not reach a person: those of a site, of a kind, or both. */
export interface Mute {
  readonly id: number
  readonly siteId: number | null
  readonly kind: string | null
  readonly until: number | null
  readonly createdAt: number
  /** Null: all sites, or a site that the person does not see. */
  readonly siteName: string | null
}

export const MOST_MUTES = 200

export const MuteSchema = Type.Object(
  {
    id: Type.Integer({ examples: [4] }),
    site_id: nullable(Type.Integer({ description: 'Null: all sites, and the installation', examples: [12] })),
    site_name: nullable(
      Type.String({ description: 'Null: all sites, or a site that you cannot see', examples: ['My shop'] }),
    ),
    kind: nullable(Type.String({ description: 'Null: all kinds', examples: ['site_down'] })),
    until: nullable(Type.String({ ...Timestamp, description: 'Null: until you delete it' })),
    created_at: Timestamp,
  },
  { title: 'AlertMute' },
)

export const muteKind = Type.Optional(nullable(KindField))

export const presentMute = ({
  id,
  siteId,
  siteName,
  kind,
  until,
  createdAt,
}: Mute): Type.Static<typeof MuteSchema> => ({
  ...{ id, kind },
  site_id: siteId,
  site_name: siteName,
  until: until === null ? null : timestamp(until),
  created_at: timestamp(createdAt),
})

/** Returns whether one of the mutes covers an alert at a time. */
export const isMuted = (
  mutes: readonly Mute[],
  alert: { readonly siteId: number; readonly kind: string },
  now: number,
): boolean =>
  mutes.some(
    ({ siteId, kind, until }) =>
      (until === null || until > now) &&
      (siteId === null || siteId === alert.siteId) &&
      (kind === null || kind === alert.kind),
  )
