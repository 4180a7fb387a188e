import { hostReports } from '../../hosting/host.store.ts'
import { readDatabaseTime } from '../../platform/operations/worker/lease.ts'
import { askAuthority } from './authority.ts'
import { type Check, type CheckContext, type Finding, ok, onDatabase, problem } from './check.ts'

/** A time before this version of Stead was built. */
const MADE_AFTER = Date.UTC(2026, 0, 1)
/** Codes of authenticator apps are valid for half a minute, and requests to S3 for minutes. */
const TOLERATED_MS = 10_000
const SYNCHRONIZE = 'Set the clock and synchronize it with NTP (apt-get install chrony).'

export const clockCheck: Check = {
  area: 'clock',
  async run(context) {
    const found = (await Promise.all([calendar(context), ofDatabase(context), ofAuthority(context)])).flat()
    return found.length > 0 ? found : [ok(`The clock says ${new Date(context.now()).toISOString()}.`)]
  },
}

async function calendar({ now }: CheckContext): Promise<Finding[]> {
  if (now() >= MADE_AFTER) return []
  return [
    problem(
      `The clock says ${new Date(now()).toISOString()}, which is before this version of Stead was built.`,
      SYNCHRONIZE,
    ),
  ]
}

/** Checks the clock of PostgreSQL, and the times of hosts' reports, which a correct clock recorded. */
const ofDatabase = (context: CheckContext): Promise<readonly Finding[]> =>
  onDatabase(context, async ({ database }) => {
    const asked = context.now()
    const theirs = database.dialect === 'postgres' ? await readDatabaseTime(database) : asked
    const latest = Math.max(0, ...(await hostReports(database.read)).map(({ seenAt }) => seenAt))
    // The delay of each half of the round trip is unknown.
    const found = differs(theirs, asked, context.now(), 'the database server')
    if (latest - theirs > TOLERATED_MS)
      found.push(
        problem(`A host was last heard of at ${new Date(latest).toISOString()}, which is still to come.`, SYNCHRONIZE),
      )
    return found
  })

async function ofAuthority(context: CheckContext): Promise<Finding[]> {
  const asked = context.now()
  const { date } = (await askAuthority(context).catch(() => undefined)) ?? {}
  return date === undefined ? [] : differs(date, asked, context.now(), 'the certificate authority')
}

function differs(theirs: number, from: number, to: number, whose: string): Finding[] {
  const seconds = theirs < from ? (from - theirs) / 1000 : (theirs - to) / 1000
  if (seconds * 1000 < TOLERATED_MS) return []
  return [problem(`The clock differs from that of ${whose} by ${Math.round(seconds)} seconds.`, SYNCHRONIZE)]
}
