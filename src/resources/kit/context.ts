import type { FastifyReply } from 'fastify'
import type { BackupStore } from '../../backups/backup-store.ts'
import type { Config } from '../../config.ts'
import type { PrintPage } from '../../hosting/page-measure/print-page.ts'
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
import type { ActivityFeed } from '../activity/activity-feed.ts'
import type { Downloads } from '../backups/download/downloads.ts'
import type { FoundByChecks } from '../installation/installation-check.ts'
import type { StreamFacts } from '../operations/stream-access.ts'
import type { Passwords } from '../sign-in/password/user-password.ts'
import type { EventFeed } from '../webhooks/event-feed.ts'
import type { Action } from './action.ts'
import type { Caller } from './caller.ts'
import type { HostServices } from './host-services.ts'
import type { SiteHooks } from './site-hooks.ts'
import type { SiteOperation } from './site-operations.ts'
import type { Undoable } from './undoable.ts'

/** The services that every handler gets in addition to the request. */
export interface Services {
  readonly config: Config
  readonly database: Database
  readonly sealer: Sealer
  /** Backups of all sites. */
  readonly backups: BackupStore
  /** Downloads of backups. */
  readonly downloads: Downloads
  /** Forwards client uploads to hosts, if there are any. */
  readonly sendPart: SendPart | undefined
  /** Prints pages as PDF, if this process may start a browser. */
  readonly printPage: PrintPage | undefined
  readonly log: Log
  /** Web server and PHP logs of the sites. */
  readonly logs: LogStore
  /** Operation types by name. */
  readonly definitions: Definitions
  readonly pluginDirectory: PluginDirectory
  /** Password hashing for the control panel. */
  readonly passwords: Passwords
  readonly siteHooks: readonly SiteHooks<HostServices>[]
  /** Finds operations that can be undone. */
  readonly undoable: readonly Undoable[]
  /** Returns the current content of `/metrics`. */
  readonly figures: () => Promise<readonly MetricReport[]>
  /** Returns what `stead doctor` finds on this machine. */
  readonly checks: () => Promise<FoundByChecks>
  /** All operations on sites that the API offers. */
  readonly siteOperations: readonly SiteOperation[]
  /** All actions that the activity logs can contain. */
  readonly actions: readonly Action[]
  /** Names of all webhook events. */
  readonly eventTypes: readonly string[]
  /** Follows operations for all clients that wait. */
  readonly watches: OperationWatch
  /** Streams of operation events. */
  readonly streams: EventStreams<StreamFacts>
  /** Sends new activity log entries to the streams. */
  readonly activityFeed: ActivityFeed
  /** Sends new events to the streams. */
  readonly feed: EventFeed
}

export interface Context extends BaseContext, Services {
  readonly caller: Caller
  /** Only for endpoints that write their response themselves (style `stream`). Nothing else writes to it. */
  readonly response: FastifyReply
}
