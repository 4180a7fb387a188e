import { setTimeout as pause } from 'node:timers/promises'
import type { Ground } from '../ground.ts'
import type { Write } from '../ledger.ts'
import type { Load } from './load.ts'

/** Invites people to a site, each with a mail, and removes some of them. */
export const collaborators: Load = {
  name: 'collaborators and mails',
  workers: 2,
  async run({ client, baseSites }, { chance, worker, signal }) {
    // a site may have 200
    for (let n = 0; n < 150 && !signal.aborted; n++) {
      const site = chance.pick(baseSites)
      const path = `/v1/sites/${site.id}/collaborators`
      const email = `person-${worker}-${n}@example.com`
      const added = await client.write({
        what: 'collaborator',
        method: 'POST',
        path,
        body: { email, roles: ['manage_notes'] },
        keyed: chance.is(0.6),
        entry: {
          action: 'account.collaborator',
          siteId: site.id,
          message: `Added ${email} to ${site.name} with the roles manage_notes`,
        },
      })
      if (added.outcome === 'acknowledged' && chance.is(0.3))
        await client.write({
          what: 'collaborator removed',
          method: 'DELETE',
          path: `${path}/${added.data.id}`,
          keyed: true,
        })
      await pause(chance.between(200, 800))
    }
  },

  async check(ground) {
    return [...(await checkPeople(ground)), ...checkMails(ground)]
  },
}

const emailOf = ({ body }: Write): string => (body as { email: string }).email

async function checkPeople({ ledger, records }: Ground): Promise<string[]> {
  const rows = await records(
    'select email, collaborators.id from collaborators join accounts on accounts.id = collaborators.account_id',
  )
  const there = new Set(rows.map(({ email }) => email))
  const faults: string[] = []
  for (const write of ledger.writes) {
    if (write.what === 'collaborator' && write.outcome === 'refused')
      faults.push(`refused: ${emailOf(write)}: ${write.status}`)
    if (write.what === 'collaborator' && write.outcome === 'acknowledged') {
      const removal = ledger.writes.find(
        ({ what, path }) => what === 'collaborator removed' && path === `${write.path}/${write.data.id}`,
      )
      if (!removal && !there.has(emailOf(write))) faults.push(`lost: ${emailOf(write)}`)
      if (removal?.outcome === 'acknowledged' && there.has(emailOf(write)))
        faults.push(`there though removed: ${emailOf(write)}`)
    }
  }
  return faults
}

/** Checks that each mail arrives at least once, and always the same. */
function checkMails({ ledger, mails }: Ground): string[] {
  const idsOf = new Map<string, Set<string>>()
  for (const { to, messageId } of mails.received) idsOf.set(to, (idsOf.get(to) ?? new Set()).add(messageId))
  ledger.count('mails handed over', mails.received.length)
  ledger.count('mails', idsOf.size)
  const missing = ledger.writes
    .filter((write) => write.what === 'collaborator' && write.outcome === 'acknowledged' && !idsOf.has(emailOf(write)))
    .map((write) => `no mail to ${emailOf(write)}`)
  const several = [...idsOf]
    .filter(([, ids]) => ids.size > 1 || ids.has(''))
    .map(([to, ids]) => `${to} got mails with different numbers: ${[...ids].join(' ')}`)
  return [...missing, ...several]
}
