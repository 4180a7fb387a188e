import type { TestApi } from '../../../test/support/api.ts'
import { reportMonitor, storeStates } from '../../edge/monitor/monitor.store.ts'
import type { MonitoringStateRow } from '../../edge/tables.ts'
import { judgeSite } from './judge-site.ts'
import { askingEdges } from './monitoring.store.ts'

/** Lets edges say something about a site, each named with its state, and judges the site. */
export async function edgesSay(
  api: TestApi,
  siteId: number,
  states: Readonly<Record<string, MonitoringStateRow['state']>>,
  at = Date.now(),
  detail = 'The front page answers 502',
): Promise<void> {
  await api.database.transaction(async (tx) => {
    for (const [edge, state] of Object.entries(states)) {
      await reportMonitor(tx, edge, at)
      const isBad = state === 'down' || state === 'slow'
      const why = isBad ? ({ reason: 'status', detail } as const) : { reason: null, detail: '' }
      await storeStates(tx, [{ site_id: siteId, edge, host_name: 'site.test', state, ...why, since: at }])
    }
    await judgeSite(tx, siteId, await askingEdges(tx, at), at)
  })
}
