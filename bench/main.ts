import { allSitesBench } from './all-sites.ts'
import { apiBench } from './api.ts'
import { backupsBench } from './backups.ts'
import { careBench } from './care.ts'
import { createSiteBench } from './create-site.ts'
import { dayBench } from './day.ts'
import { dnsBench } from './dns.ts'
import { drainsBench } from './drains.ts'
import { edgeCacheBench } from './edge-cache.ts'
import { edgeScaleBench } from './edge-scale.ts'
import { edgeTlsBench } from './edge-tls.ts'
import { eventsBench } from './events.ts'
import { fleetBench } from './fleet.ts'
import { inventoryBench } from './inventory.ts'
import { listsBench } from './lists.ts'
import { logsBench } from './logs.ts'
import { machinesBench } from './machines.ts'
import { manySitesBench } from './many-sites.ts'
import { manyUpdatesBench } from './many-updates.ts'
import { memoryBench } from './memory.ts'
import { movesBench } from './moves.ts'
import { nativeBench } from './native.ts'
import { pageBench } from './page.ts'
import { panelBench } from './panel.ts'
import { pluginsBench } from './plugins.ts'
import { safeUpdatesBench } from './safe-updates.ts'
import { sftpBench } from './sftp.ts'
import { sleptSiteBench } from './slept-site.ts'
import { statisticsBench } from './statistics.ts'
import { machine, type Section, sectionText } from './support/report.ts'

const all: Record<string, () => Promise<Section | Section[]>> = {
  site: createSiteBench,
  slept: sleptSiteBench,
  many: manySitesBench,
  page: pageBench,
  api: apiBench,
  lists: async () => [await listsBench(), await allSitesBench()],
  edge: async () => [await edgeCacheBench(), await edgeTlsBench()],
  'edge-scale': edgeScaleBench,
  machines: machinesBench,
  memory: memoryBench,
  backups: backupsBench,
  dns: dnsBench,
  events: eventsBench,
  sftp: sftpBench,
  plugins: pluginsBench,
  panel: panelBench,
}
/** A quarter of an hour, as part of another benchmark. */
const onlyWhenAsked: Record<string, () => Promise<Section | Section[]>> = {
  logs: logsBench,
  native: nativeBench,
  'edge-cache': edgeCacheBench,
  'edge-tls': edgeTlsBench,
  'all-sites': allSitesBench,
  moves: () => movesBench(),
  drains: () => drainsBench(),
  fleet: fleetBench,
  statistics: statisticsBench,
  care: async () => [await careBench(), await inventoryBench(), await manyUpdatesBench()],
  inventory: inventoryBench,
  'many-updates': manyUpdatesBench,
  day: dayBench,
  'safe-updates': safeUpdatesBench,
}
const asked = process.argv.slice(2)
console.log(`# Benchmarks\n\n${machine()}\n`)
const chosen =
  asked.length > 0
    ? Object.entries({ ...all, ...onlyWhenAsked }).filter(([name]) => asked.includes(name))
    : Object.entries(all)
for (const [, bench] of chosen) for (const section of [await bench()].flat()) console.log(sectionText(section))
process.exit(0)
