import type { Contract } from '../../../test/support/contract.ts'
import { at, type Examples, type Sample, type Scene } from '../../../test/support/samples.ts'

type Api = Scene['api']

async function sessionOf({ database }: Api, accountId: number): Promise<number> {
  const { id } = await database.read
    .selectFrom('sessions')
    .select('id')
    .where('account_id', '=', accountId)
    .orderBy('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Gives a session of the account the number that the path names. */
async function rename(api: Api, accountId: number): Promise<void> {
  const id = await sessionOf(api, accountId)
  await api.database.transaction(async (tx) => {
    await tx
      .updateTable('sessions')
      .set({ id: 2_000_000 + id })
      .where('id', '=', 1_000_000)
      .execute()
    await tx.updateTable('sessions').set({ id: 1_000_000 }).where('id', '=', id).execute()
  })
}

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'listSessions', path: at('/v1/sessions'), scope: true },
  { endpoint: 'endSession', path: at('/v1/sessions/1000000'), isPrivate: true, scope: true, prepare: ({ owner }, api) => rename(api, owner.accountId) },
]

const examples: Examples = {
  endSession: async ({ api, owner }) => ({ params: { id: await sessionOf(api, owner.accountId) } }),
}

export const contract: Contract = { samples, examples }
