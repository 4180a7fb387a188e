import { generate } from 'selfsigned'
import { expect } from 'vitest'
import type { Contract, JobRefusal, JobSample, JobWorld } from '../../../test/support/contract.ts'
import { change } from '../../../test/support/job-worlds.ts'
import { changeName, findName, insertName } from './certificate.store.ts'

const ofWorld = ({ site }: JobWorld) => `s${site}.example.com`

const wantName = (world: JobWorld) => {
  const now = Date.now()
  return change(world, (tx) => insertName(tx, { hostName: ofWorld(world), siteId: world.site, dueAt: now, now }))
}

const jobs: Record<string, JobSample> = {
  // test/acme.test.ts tests the certificate authority.
  'certificate.order': {
    async prepare(world) {
      const { cert: chain } = await generate([{ name: 'commonName', value: 'a' }], { keyType: 'ec' })
      await wantName(world)
      await change(world, (tx) => changeName(tx, ofWorld(world), { chain, due_at: 0 }))
      return { input: { hostName: ofWorld(world) }, options: { siteId: null, hostId: null } }
    },
    async done(world) {
      const row = await findName(world.api.database.read, ofWorld(world))
      // It is valid for a year: it was checked again, and nothing was ordered.
      expect(row?.due_at).toBeGreaterThan(Date.now())
      expect(row).toMatchObject({ order_url: null, reason: null })
    },
  },

  'certificates.plan': {
    async prepare(world) {
      await wantName(world)
      await change(world, (tx) => changeName(tx, ofWorld(world), { due_at: 0 }))
      return { input: {}, options: { siteId: null, hostId: null } }
    },
    async done(world) {
      const { read } = world.api.database
      const orders = await read
        .selectFrom('operations')
        .select('input')
        .where('type', '=', 'certificate.order')
        .execute()
      const own = orders.filter(({ input }) => input === JSON.stringify({ hostName: ofWorld(world) }))
      expect(own).toHaveLength(1)
      expect((await findName(read, ofWorld(world)))?.due_at).toBeGreaterThan(Date.now())
    },
  },
}

// biome-ignore format: a table
const jobRefusals: readonly JobRefusal[] = [
  { type: 'certificate.order', says: 'too many of them', wrong: (world, { hostName }) => change(world, (tx) => changeName(tx, hostName, { not_before: Date.now() + 1e6, reason: 'too many of them' })) },
  { type: 'certificate.order', says: 'until the operator agrees to the terms', wrong: (world, { hostName }) => change(world, (tx) => changeName(tx, hostName, { chain: null })) },
]

export const contract: Contract = { jobs, jobRefusals }
