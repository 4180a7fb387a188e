import type { Generated } from 'kysely'
import type { Flag } from '../../platform/db/schema.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    safe_updates: SafeUpdateRow
    safe_update_pictures: SafeUpdatePictureRow
    safe_update_settings: SafeUpdateSettingsRow
    safe_update_batches: SafeUpdateBatchRow
    safe_update_batch_sites: SafeUpdateBatchSiteRow
    account_update_policies: AccountUpdatePolicyRow
    site_update_policies: SiteUpdatePolicyRow
    update_turns: UpdateTurnRow
    undone_updates: UndoneUpdateRow
  }
}

/** The report of a safe update. It has the number of its operation, and stays longer than that. */
export interface SafeUpdateRow {
  operation_id: number
  site_id: number
  state: string
  /** Why it was undone, or failed. */
  reason: string | null
  /** JSON: `UpdatedItem[]`. */
  items: string
  /** JSON: `UpdatedPage[]`. */
  pages: string
  /** JSON: `NewMessage[]`. */
  logged: string
  /** Why no pictures were compared. */
  no_pictures: string | null
  /** JSON: `Changing`. From before the site is touched until the update is kept or undone. */
  changing: string | null
  created_at: number
  ended_at: number | null
  /** The batch that started it. */
  batch_id: number | null
  /** Whether a policy started it. */
  by_policy: Generated<Flag>
}

/** A picture of a page that differs. */
export interface SafeUpdatePictureRow {
  operation_id: number
  /** The place of the page in the report. */
  page: number
  width: number
  kind: 'before' | 'after' | 'difference'
  /** JPEG in Base64. */
  picture: string
}

/** Settings for all safe updates of a site. A site without a row has none. */
export interface SafeUpdateSettingsRow {
  site_id: number
  /** JSON: selectors. */
  masks: string
  /** JSON: paths. */
  paths: string
}

/** A safe update of many sites. It has the number of its operation, and stays longer than that. */
export interface SafeUpdateBatchRow {
  operation_id: number
  /** The account that requested it. */
  account_id: number
  /** JSON: `BatchWish`. */
  wanted: string
  state: string
  created_at: number
  ended_at: number | null
}

/** A site of a batch. */
export interface SafeUpdateBatchSiteRow {
  batch_id: number
  site_id: number
  state: string
  /** Why it was skipped, was undone, or failed. */
  reason: string | null
  /** The operation that updates the site. */
  update_id: number | null
}

/** When a site, or the sites of an account, are updated safely without a request. */
export interface UpdatePolicyRow {
  mode: string
  weekday: string
  hour: number
  time_zone: string
  /** JSON: folders of plugins and themes. */
  exclude: string
}

export interface AccountUpdatePolicyRow extends UpdatePolicyRow {
  account_id: number
}

export interface SiteUpdatePolicyRow extends UpdatePolicyRow {
  site_id: number
}

/** When Stead looks at a site with a policy next. */
export interface UpdateTurnRow {
  site_id: number
  /** The time of the policy that it is for. */
  slot_at: number
  /** Later than that, if the site was busy. */
  due_at: number
  /** Whether the turn before tried a version again alone. */
  after_trial: Generated<Flag>
}

/** The last version of a plugin or theme that was undone on a site. */
export interface UndoneUpdateRow {
  site_id: number
  kind: string
  slug: string
  version: string
  operation_id: number
  undone_at: number
  /** 1: it was undone together with others, so policies try it again alone. Otherwise they do not install it again. */
  is_suspect: Generated<Flag>
}
