/** `npm run torture -- --kills=60 --database=sqlite|postgres --seed=1 [--only='kill -9 host,older database'] [--seconds=600]` */
import { parseArgs } from 'node:util'
import { reportText } from './report.ts'
import { Interrupted, torture } from './torture.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '60' },
    database: { type: 'string', default: 'sqlite' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    seconds: { type: 'string' },
    only: { type: 'string' },
  },
})
const { database } = values
const [kills, seed] = [values.kills, values.seed].map(Number) as [number, number]
if (
  !Number.isInteger(kills) ||
  kills < 0 ||
  !Number.isInteger(seed) ||
  (database !== 'sqlite' && database !== 'postgres')
) {
  console.error(
    'npm run torture -- [--kills=<number>] [--database=sqlite|postgres] [--seed=<number>] [--seconds=<number>]',
  )
  process.exit(2)
}
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    console.error('ending, and taking everything away')
    interrupted.abort()
  })
const startedAt = performance.now()
const report = await torture({
  kills,
  database,
  seed,
  ...(values.seconds && { mostSeconds: Number(values.seconds) }),
  ...(values.only && { only: values.only.split(',') }),
  signal: interrupted.signal,
  say: (line) => console.error(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(6)} s  ${line}`),
}).catch((error) => {
  if (!(error instanceof Interrupted)) throw error
  console.error(error.message)
  process.exit(130)
})
console.log(reportText(report))
process.exit(report.faults.length === 0 ? 0 : 1)
