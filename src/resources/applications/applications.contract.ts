import type { Contract, ProblemCase } from '../../../test/support/contract.ts'
import { at, type Examples, type Sample, type Scene } from '../../../test/support/samples.ts'
import { listLiveApplications } from '../account/account.store.ts'
import { makeApplication } from '../account/account.ts'
import { MOST_APPLICATIONS } from './application.ts'

const body = () => ({ name: 'Deploy bot' })

type Tx = Parameters<typeof makeApplication>[0]

const made = (tx: Tx, accountId: number) =>
  makeApplication(tx, { accountId, name: 'Deploy bot', isOwner: false, now: Date.now() })

/** Gives an application of the account the number that the path names. */
const numbered = ({ database }: Scene['api'], accountId: number): Promise<void> =>
  database.transaction(async (tx) => {
    const { id } = await made(tx, accountId)
    await tx
      .updateTable('applications')
      .set({ id: 2_000_000 + id })
      .where('id', '=', 1_000_000)
      .execute()
    await tx.updateTable('applications').set({ id: 1_000_000 }).where('id', '=', id).execute()
  })

/** Frees a place: the owner of a scene has as many applications as an account may have. */
const withAllApplications = ({ api, owner }: Scene): Promise<void> =>
  api.database.transaction(async (tx) => {
    while ((await listLiveApplications(tx, owner.accountId)).length < MOST_APPLICATIONS) await made(tx, owner.accountId)
  })

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'listApplications', path: at('/v1/applications'), scope: true },
  { endpoint: 'createApplication', path: at('/v1/applications'), body, scope: true },
  { endpoint: 'revokeApplication', path: at('/v1/applications/1000000'), isPrivate: true, scope: true, prepare: ({ owner }, api) => numbered(api, owner.accountId) },
]

const examples: Examples = {
  createApplication: () => ({ body: body() }),
  revokeApplication: async ({ api, owner }) => ({
    params: { id: (await api.database.transaction((tx) => made(tx, owner.accountId))).id },
  }),
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['createApplication'], code: 'application_limit_reached', prepare: withAllApplications },
]

export const contract: Contract = { samples, examples, problems }
