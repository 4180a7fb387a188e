import Type from 'typebox'
import { durableWith, type StepContext } from '../../platform/operations/definition.ts'
import type { HostServices } from '../kit/host-services.ts'

/** Ends the SFTP connections of a site. */
export const disconnectSftpJob = durableWith<HostServices>()({
  name: 'sftp.disconnect',
  input: Type.Object({ siteId: Type.Integer() }),
  on: 'host',
  changeableBy: { site: 'use SFTP' },
  attempts: 2,
  steps: { connections: { run: disconnect } },
})

async function disconnect({ services, input }: StepContext<{ siteId: number }, HostServices>): Promise<void> {
  await services.endSftp(input.siteId)
}
