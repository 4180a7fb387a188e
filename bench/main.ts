import { apiBench } from './api.ts'
import { createSiteBench } from './create-site.ts'
import { edgeCacheBench } from './edge-cache.ts'
import { listsBench } from './lists.ts'
import { memoryBench } from './memory.ts'
import { pageBench } from './page.ts'
import { machine, type Section, sectionText } from './support/report.ts'

const all: Record<string, () => Promise<Section>> = {
  site: createSiteBench,
  page: pageBench,
  api: apiBench,
  lists: listsBench,
  edge: edgeCacheBench,
  memory: memoryBench,
}
const asked = process.argv.slice(2)
console.log(`# Benchmarks\n\n${machine()}\n`)
for (const [name, bench] of Object.entries(all))
  if (asked.length === 0 || asked.includes(name)) console.log(sectionText(await bench()))
process.exit(0)
