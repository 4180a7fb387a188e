import Type from 'typebox'
import { nullable, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import { isOperator } from '../account/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { InstallationCheck } from './installation-check.ts'

export const checkInstallation = endpoint({
  id: 'checkInstallation',
  method: 'GET',
  path: '/v1/installation/checks',
  summary: 'Check the installation',
  description:
    'Returns the results of `stead doctor` on the API server: names, DNS, ports, certificates, clock, disk, databases, storage, mail, PHP and limits. Takes up to 15 seconds. Stead caches the result for ten seconds. `checks` is null unless your account operates the installation.',
  access: { account: 'own' },
  etag: true,
  response: Type.Object(
    {
      checked_at: nullable(Timestamp),
      checks: nullable(Type.Array(InstallationCheck)),
    },
    { title: 'InstallationChecks' },
  ),

  async handle({ tx, caller, checks }) {
    if (!(await isOperator(tx, caller.accountId))) return { checked_at: null, checks: null }
    const { at, found } = await checks()
    return { checked_at: timestamp(at), checks: [...found] }
  },
})
