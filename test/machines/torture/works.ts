/** Work of the operator while something happens to the machines. */
import type { Chance } from '../../support/seeded.ts'
import type { Lab } from '../lab/lab.ts'
import type { WorkedSite } from '../lab/load.ts'

export interface OperatorWork {
  readonly name: string
  /** Begins it. @returns its operations, and what makes the hosts take sites again */
  begin(lab: Lab, chance: Chance, sites: readonly WorkedSite[]): Promise<Begun>
}

export interface Begun {
  readonly operations: readonly string[]
  after(): Promise<void>
}

const nothingElse: Begun = { operations: [], async after() {} }

async function begun(lab: Lab, method: string, path: string, body?: object): Promise<string[]> {
  const { status, headers, body: answer } = await lab.api(method, path, body)
  // A site may still be busy with what happened to it before.
  if (status === 409) return []
  const id = headers.get('operation-id')
  if (status !== 200 || !id) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`)
  return [id]
}

export const works: readonly OperatorWork[] = [
  { name: 'nothing', begin: async () => nothingElse },
  {
    name: 'a move',
    async begin(lab, chance, sites) {
      const site = chance.pick(sites)
      const [row] = await lab.records(
        `select hosts.name from sites join hosts on hosts.id = sites.host_id where sites.id = ${site.id}`,
      )
      const to = chance.pick(lab.hosts.filter(({ name }) => name !== row?.name))
      return {
        ...nothingElse,
        operations: await begun(lab, 'POST', `/v1/sites/${site.id}/relocate`, { host: to.name }),
      }
    },
  },
  {
    name: 'a drain',
    async begin(lab, chance) {
      const { name } = chance.pick(lab.hosts)
      const path = `/v1/installation/hosts/${name}`
      return {
        operations: await begun(lab, 'PUT', `${path}/drain`),
        async after() {
          await lab.api('PUT', `${path}/uncordon`)
        },
      }
    },
  },
]
