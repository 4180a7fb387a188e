/** `npm run siege -- [--minutes=10] [--only='slow readers,loops'] [--list]` */
import { parseArgs } from 'node:util'
import { attacks } from './attacks/index.ts'
import { reportText } from './report.ts'
import { siege } from './siege.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    only: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
})
if (values.list) {
  for (const { name, connections } of attacks) console.log(`${String(connections).padStart(4)}  ${name}`)
  process.exit(0)
}
const minutes = Number(values.minutes)
const only = values.only?.split(',')
const unknown = only?.filter((name) => name !== '' && !attacks.some((attack) => attack.name === name)) ?? []
if (!(minutes > 0) || unknown.length > 0) {
  console.error(
    `npm run siege -- [--minutes=<number>] [--only=<names>] [--list]${unknown.map((name) => `\nno attack: ${name}`)}`,
  )
  process.exit(2)
}
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    console.error('ending, and taking everything away')
    interrupted.abort()
  })
const report = await siege({
  minutes,
  ...(only && { only }),
  signal: interrupted.signal,
  say: (line) => console.error(line),
})
console.log(reportText(report))
if (interrupted.signal.aborted) process.exit(130)
process.exit(report.faults.length + report.late.length === 0 ? 0 : 1)
