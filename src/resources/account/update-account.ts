import Type from 'typebox'
import { defaultPhpVersion, phpVersions } from '../../hosting/php/runtime.ts'
import { lockForUpdate } from '../../platform/db/database.ts'
import { invalidInput, Problem } from '../../platform/http/problem.ts'
import { Nothing, nullable, oneOf } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { type Account, findAccount, setDefaults } from './account.store.ts'
import { actions } from './actions.ts'
import { problems } from './problems.ts'

export const updateAccount = endpoint({
  id: 'updateAccount',
  method: 'PUT',
  path: '/v1/account',
  summary: 'Update the defaults for new sites',
  description: 'Send at least one field. Existing sites do not change.',
  access: { account: 'own' },
  body: Type.Object(
    {
      php_version: Type.Optional(oneOf(phpVersions, { examples: [defaultPhpVersion] })),
      datacenter_code: Type.Optional(
        nullable(Type.String({ description: 'Null for no preference', examples: ['AMS'] })),
      ),
    },
    { title: 'AccountUpdate' },
  ),
  response: Nothing,
  problems: [problems.unknown_datacenter],

  async handle(context, { body }) {
    const { tx, caller, config } = context
    const { php_version: phpVersion, datacenter_code: datacenter } = body
    if (phpVersion === undefined && datacenter === undefined)
      throw invalidInput(['Send at least one of php_version, datacenter_code'])
    const codes = config.datacenters.map(({ code }) => code)
    if (datacenter != null && !codes.includes(datacenter))
      throw new Problem(problems.unknown_datacenter, { codes: codes.join(', ') })
    await lockForUpdate(tx, 'accounts', caller.accountId)
    const before = (await findAccount(tx, caller.accountId)) as Account
    const after = {
      defaultPhpVersion: phpVersion ?? before.defaultPhpVersion,
      defaultDatacenter: datacenter === undefined ? before.defaultDatacenter : datacenter,
    }
    const message = changesBetween(before, after).join(', ')
    if (!message) return null
    await setDefaults(tx, caller.accountId, after)
    await context.record({ action: actions.settings, message })
    return null
  },
})

type Defaults = Pick<Account, 'defaultPhpVersion' | 'defaultDatacenter'>

function changesBetween(before: Defaults, after: Defaults): string[] {
  const changes = [
    ['PHP version', before.defaultPhpVersion, after.defaultPhpVersion],
    ['datacenter', before.defaultDatacenter ?? 'none', after.defaultDatacenter ?? 'none'],
  ] as const
  return changes
    .filter(([, from, to]) => from !== to)
    .map(([what, from, to]) => `Changed the default ${what} of new sites from ${from} to ${to}`)
}
