import { createHash, hkdfSync } from 'node:crypto'
import { join } from 'node:path'
import { dnsBudgets } from '../budgets.ts'
import { createAnswerLimit } from '../dns/answer-limit.ts'
import { createDnsMetrics } from '../dns/dns-metrics.ts'
import { Responder } from '../dns/responder.ts'
import { Notifier } from '../dns/transfers/notifier.ts'
import { transferRule } from '../dns/transfers/secondaries.ts'
import { Cookies } from '../dns/wire/cookies.ts'
import { differenceTo } from '../dns/zones/difference.ts'
import { type ServedZone, timers } from '../dns/zones/zone.ts'
import { ZoneFeed } from '../dns/zones/zone-feed.ts'
import { newestChange, readChangedZones, readEarlier, renewZones } from '../dns/zones/zones.store.ts'
import { openBudgets } from '../platform/budgets/budget.ts'
import { lockFile, type Unlock } from '../platform/files/lock-file.ts'
import { createPartMetrics } from '../platform/metrics/part-metrics.ts'
import { OperatorError } from '../platform/operator-error.ts'
import { nameserversOf } from '../resources/access/service-names.ts'
import { openSockets } from './dns-sockets.ts'
import { requireMasterKey } from './keys/process-keys.ts'
import type { ProcessContext, RunningRole } from './process-context.ts'
import { startReporting } from './reporting.ts'
import { dnsProcesses } from './start/free-port.ts'

export interface NameServer extends RunningRole {
  /** Undefined if it does not listen. */
  readonly port: number | undefined
}

/**
 * Starts the name server for all zones.
 * @throws CannotListen on an address that the operator configured
 */
export async function startDns(context: ProcessContext): Promise<NameServer> {
  const { config, log, database } = context
  const budgets = openBudgets(dnsBudgets(config))
  const keys = config.dnsTsigKeys ?? new Map<string, Buffer>()
  const own = createPartMetrics('dns', { budgets, room: context.room })
  const notices = openNotifications(context, keys)
  const nameservers = nameserversOf(config)
  const renew = (isDue: boolean) =>
    database.transaction((tx) => renewZones(tx, { madeWith: madeWith(nameservers), now: Date.now(), isDue }))
  await renew(false)
  const feed = new ZoneFeed({
    nameservers,
    renew: () => renew(true),
    catalog: config.dnsCatalog,
    newest: () => newestChange(database.read),
    read: (seq, take) => readChangedZones(database, seq, take, context.sealer),
    onChange: (callback) => database.changes.subscribe('zones', callback),
    onZone: notices.changed,
    onError: (error) => log.warn({ err: error }, 'could not read zones, serving the last known records'),
    onFault: (zone, { type, name }, error) => log.warn({ zone, type, name, err: error }, 'skipped an invalid record'),
  })
  await feed.refresh()
  const counts = createDnsMetrics(own.registry, { zones: () => feed.zones.size, notices: notices.waiting })
  const responder = new Responder({
    zones: feed.zones,
    cookies: new Cookies(Buffer.from(hkdfSync('sha256', requireMasterKey(context), '', 'stead dns cookies', 32))),
    limit: createAnswerLimit(config.dnsRateLimit),
    keys,
    mayTransfer: transferRule(config.dnsSecondaries),
    catalog: () => feed.catalog,
    difference: (zone, serial) => differenceOf(zone, serial),
    onAnswer: counts.answered,
  })
  /**
   * Returns the changes of a zone. A signed zone is sent completely, as is every zone while the database is
   * unavailable.
   */
  async function differenceOf(zone: ServedZone, serial: number) {
    if (zone.signer || zone === feed.catalog) return undefined
    try {
      const earlier = await readEarlier(database.read, zone.name, serial, zone.serial)
      return earlier && differenceTo(zone, serial, earlier, { nameservers })
    } catch (error) {
      log.warn({ zone: zone.name, err: error }, 'could not read the changes of a zone, sending the complete zone')
      return undefined
    }
  }
  const sockets = await openSockets(context, responder, budgets.connections)
  const reporting = startReporting(context, own)
  return {
    port: sockets?.port,
    async stop() {
      await sockets?.close()
      await feed.close()
      await notices.close()
      await reporting.stop()
    },
  }
}

/** Hashes the parts of zones besides their records. A change of these does not change the zone itself. */
const madeWith = (nameservers: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify({ nameservers, timers, form: 1 }))
    .digest('base64')

/** By then, all processes know of a change, because they check twice a second. */
const TELL_AGAIN_MS = 3000

/**
 * Opens notifications of secondaries. Of several processes that share an address, only the holder of the lock sends
 * them.
 */
function openNotifications({ config, log }: ProcessContext, keys: ReadonlyMap<string, Buffer>) {
  const { dnsSecondaries: secondaries } = config
  const unknown = secondaries.find(({ keyName }) => keyName !== undefined && !keys.has(keyName))
  if (unknown)
    throw new OperatorError(
      `STEAD_DNS_SECONDARIES uses the key ${unknown.keyName}, which is missing in STEAD_DNS_TSIG_KEYS. Add ${unknown.keyName}=<32 bytes in base64>.`,
    )
  const isOneOfSeveral = dnsProcesses(config) > 1
  const notifier = new Notifier({
    secondaries,
    keys,
    againMs: isOneOfSeveral ? TELL_AGAIN_MS : undefined,
    onGiveUp: ({ host, port }, zone) =>
      log.warn({ host, port, zone }, 'could not notify a secondary of a change, it will poll later'),
  })
  let lock: Promise<Unlock | undefined> | undefined
  const isTheOne = async () => {
    if (!isOneOfSeveral) return true
    lock ??= lockFile(join(config.dataDir, 'dns-notices.lock'))
    const unlock = await lock
    if (!unlock) lock = undefined
    return unlock !== undefined
  }
  return {
    changed(zone: ServedZone): void {
      if (secondaries.length === 0) return
      isTheOne()
        .then((isOne) => isOne && notifier.changed(zone))
        .catch((error) => log.warn({ err: error }, 'could not notify secondaries of a change'))
    },
    waiting: () => notifier.waiting,
    async close() {
      notifier.close()
      ;(await lock)?.()
    },
  }
}
