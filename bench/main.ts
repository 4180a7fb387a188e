import { apiBench } from './api.ts'
import { machine, type Section, sectionText } from './support/report.ts'

const all: Record<string, () => Promise<Section>> = { api: apiBench }
const asked = process.argv.slice(2)
console.log(`# Benchmarks\n\n${machine()}\n`)
for (const [name, bench] of Object.entries(all))
  if (asked.length === 0 || asked.includes(name)) console.log(sectionText(await bench()))
process.exit(0)
