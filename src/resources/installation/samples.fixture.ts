import { at, type Examples, type Sample, type Scene, unique, type World } from '../../../test/support/samples.ts'
import { setSuspended } from '../account/account.store.ts'
import { insertRemoval } from '../account/removal.store.ts'

const onAccount = (verb: string) => (world: World) => `/v1/installation/accounts/${world.stranger.accountId}/${verb}`

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'getInstallation', path: at('/v1/installation') },
  { endpoint: 'listInstallationAccounts', path: at('/v1/installation/accounts') },
  { endpoint: 'checkInstallation', path: at('/v1/installation/checks') },
  { endpoint: 'suspendAccount', path: onAccount('suspend'), isOfOperator: true },
  { endpoint: 'resumeAccount', path: onAccount('resume'), isOfOperator: true },
  { endpoint: 'getAccountRemoval', path: onAccount('removal'), isOfOperator: true },
  { endpoint: 'removeAccount', path: onAccount('removal'), body: ({ stranger }) => ({ email: stranger.email }), isOfOperator: true },
  { endpoint: 'cancelAccountRemoval', path: onAccount('removal'), isOfOperator: true },
  { endpoint: 'cordonHost', path: at('/v1/installation/hosts/h/cordon'), isOfOperator: true },
  { endpoint: 'uncordonHost', path: at('/v1/installation/hosts/h/uncordon'), isOfOperator: true },
]

/** Creates an account that nothing else uses. */
const another = async (scene: Scene) => (await scene.api.person(emailIn(scene))).accountId
const emailIn = ({ number }: Scene) => `suspended-${number}@example.com`

/** Creates an account whose removal waits. */
export async function leavingIn(scene: Scene, begunAt: number | null = null): Promise<number> {
  const accountId = await another(scene)
  await scene.api.database.transaction(async (tx) => {
    // Some scenes have several examples.
    await tx.deleteFrom('account_removals').where('account_id', '=', accountId).execute()
    await insertRemoval(tx, { accountId, wasSuspended: false, askedAt: 1, dueAt: 1, begunAt })
    await setSuspended(tx, accountId, 1)
  })
  return accountId
}

/**
 * Creates a host that gets no sites in any state.
 * @returns its name
 */
async function hostIn({ api }: Scene, state: 'active' | 'cordoned'): Promise<string> {
  const name = `${state}-${unique()}`
  const values = { name, state, address: '', datacenters: '', max_sites: 0, facts: '{}', seen_at: 0 }
  await api.database.transaction((tx) => tx.insertInto('hosts').values(values).execute())
  return name
}

export const examples: Examples = {
  suspendAccount: async (scene) => ({ params: { id: await another(scene) } }),
  async resumeAccount(scene) {
    const id = await another(scene)
    await scene.api.database.transaction((tx) => setSuspended(tx, id, 1))
    return { params: { id } }
  },
  getAccountRemoval: async (scene) => ({ params: { id: await another(scene) } }),
  removeAccount: async (scene) => ({ params: { id: await another(scene) }, body: { email: emailIn(scene) } }),
  cancelAccountRemoval: async (scene) => ({ params: { id: await leavingIn(scene) } }),
  cordonHost: async (scene) => ({ params: { name: await hostIn(scene, 'active') } }),
  uncordonHost: async (scene) => ({ params: { name: await hostIn(scene, 'cordoned') } }),
}
