import { apiBench } from './api.ts'
import { backupsBench } from './backups.ts'
import { createSiteBench } from './create-site.ts'
import { dnsBench } from './dns.ts'
import { edgeCacheBench } from './edge-cache.ts'
import { edgeScaleBench } from './edge-scale.ts'
import { eventsBench } from './events.ts'
import { listsBench } from './lists.ts'
import { logsBench } from './logs.ts'
import { memoryBench } from './memory.ts'
import { pageBench } from './page.ts'
import { pluginsBench } from './plugins.ts'
import { sftpBench } from './sftp.ts'
import { machine, type Section, sectionText } from './support/report.ts'

const all: Record<string, () => Promise<Section>> = {
  site: createSiteBench,
  page: pageBench,
  api: apiBench,
  lists: listsBench,
  edge: edgeCacheBench,
  'edge-scale': edgeScaleBench,
  memory: memoryBench,
  backups: backupsBench,
  dns: dnsBench,
  events: eventsBench,
  sftp: sftpBench,
  plugins: pluginsBench,
}
/** Takes a quarter of an hour. */
const onlyWhenAsked: Record<string, () => Promise<Section>> = { logs: logsBench }
const asked = process.argv.slice(2)
console.log(`# Benchmarks\n\n${machine()}\n`)
const chosen =
  asked.length > 0
    ? Object.entries({ ...all, ...onlyWhenAsked }).filter(([name]) => asked.includes(name))
    : Object.entries(all)
for (const [, bench] of chosen) console.log(sectionText(await bench()))
process.exit(0)
