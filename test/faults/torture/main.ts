/**
 * `npm run torture -- --kills=60 --database=sqlite|postgres --seed=1 [--only='kill -9 host,older database'] [--seconds=600]`
 *
 * `npm run torture -- --machines [--rounds=15] [--seed=1] [--only='kill -9 a host'] [--seconds=1800]`: several machines
 */
import { parseArgs } from 'node:util'
import { tortureMachines } from '../../machines/torture/torture.ts'
import { reportText } from './report.ts'
import { Interrupted, torture } from './torture.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '60' },
    database: { type: 'string', default: 'sqlite' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    seconds: { type: 'string' },
    only: { type: 'string' },
    machines: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '15' },
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
    'npm run torture -- [--machines --rounds=<number>] [--kills=<number>] [--database=sqlite|postgres] [--seed=<number>] [--seconds=<number>]',
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
const say = (line: string) =>
  console.error(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(6)} s  ${line}`)
const only = values.only?.split(',')
const running = values.machines
  ? tortureMachines({
      ...{ seed, say, signal: interrupted.signal, rounds: Number(values.rounds) },
      ...{ mostSeconds: Number(values.seconds ?? 1800), ...(only && { only }) },
    })
  : torture({
      ...{ kills, database, seed, say, signal: interrupted.signal },
      ...(values.seconds && { mostSeconds: Number(values.seconds) }),
      ...(only && { only }),
    })
const report = await running.catch((error) => {
  if (!(error instanceof Interrupted)) throw error
  console.error(error.message)
  process.exit(130)
})
console.log(reportText(report))
process.exit(report.faults.length === 0 ? 0 : 1)
