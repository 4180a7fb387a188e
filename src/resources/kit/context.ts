import type { FastifyReply } from 'fastify'
import type { BackupStore } from '../../backups/backup-store.ts'
import type { Config } from '../../config.ts'
import type { PluginDirectory } from '../../hosting/plugin-directory/plugin-directory.ts'
import type { SendPart } from '../../hosting/site-imports/send-part.ts'
import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Database } from '../../platform/db/database.ts'
import type { BaseContext } from '../../platform/http/endpoint.ts'
import type { EventStreams } from '../../platform/http/event-streams.ts'
import type { Log } from '../../platform/log/log.ts'
import type { LogStore } from '../../platform/log-store/log-store.ts'
import type { MetricReport } from '../../platform/metrics/part-metrics.ts'
import type { Definitions } from '../../platform/operations/definition.ts'
import type { OperationWatch } from '../../platform/operations/worker/watch.ts'
import type { ActivityFeed } from '../activity/feed.ts'
import type { Downloads } from '../backups/download/downloads.ts'
import type { FoundByChecks } from '../installation/check.ts'
import type { Undoable } from '../operations/operation-actions.ts'
import type { StreamFacts } from '../operations/stream-access.ts'
import type { Passwords } from '../sign-in/password/password.ts'
import type { EventFeed } from '../webhooks/feed.ts'
import type { Action } from './action.ts'
import type { SiteHooks } from './site-hooks.ts'
import type { SiteOperation } from './site-operations.ts'

/** An API application that has shown a valid token. */
export interface Caller {
  readonly applicationId: number
  readonly accountId: number
  readonly accountEmail: string
  /** Scope `owner`: the application was made with account owner permission. */
  readonly isOwner: boolean
  /** Of a person in the control panel, who calls by the cookie of a browser. */
  readonly session?: {
    readonly id: number
    /** When the password was last shown. */
    readonly provenAt: number
    readonly expiresAt: number
    readonly origin: string
  }
}

/** What every handler has besides the request itself. */
export interface Services {
  readonly config: Config
  readonly database: Database
  readonly sealer: Sealer
  /** Of all sites. */
  readonly backups: BackupStore
  /** Backups on their way to clients. */
  readonly downloads: Downloads
  /** Passes what clients upload on to hosts, where there are any. */
  readonly sendPart: SendPart | undefined
  readonly log: Log
  /** Web server and PHP logs of the sites. */
  readonly logs: LogStore
  /** Operation types by name. */
  readonly definitions: Definitions
  readonly pluginDirectory: PluginDirectory
  /** Of people, for the control panel. */
  readonly passwords: Passwords
  readonly siteHooks: readonly SiteHooks[]
  /** All that takes operations back. */
  readonly undoable: readonly Undoable[]
  /** What `/metrics` would say at this moment. */
  readonly figures: () => Promise<readonly MetricReport[]>
  /** What `stead doctor` would find on this machine. */
  readonly checks: () => Promise<FoundByChecks>
  /** All that can be done with a site. */
  readonly siteOperations: readonly SiteOperation[]
  /** All that the activity logs can say. */
  readonly actions: readonly Action[]
  /** Names of all events that webhooks can be told of. */
  readonly eventTypes: readonly string[]
  /** Follows background work, for all who ask. */
  readonly watches: OperationWatch
  /** Streams of its events. */
  readonly streams: EventStreams<StreamFacts>
  /** Feeds them with what comes into the activity logs. */
  readonly activityFeed: ActivityFeed
  /** Feeds them with what happens. */
  readonly feed: EventFeed
}

export interface Context extends BaseContext, Services {
  readonly caller: Caller
  /** Of endpoints that write their response themselves (style `stream`); nobody else touches it. */
  readonly response: FastifyReply
}
