import { setTimeout as pause } from 'node:timers/promises'
import Type from 'typebox'
import { PageMarks } from '../../../hosting/php/same-page.ts'
import { PermanentFailure, type StepContext } from '../../../platform/operations/definition.ts'
import { findOperation } from '../../../platform/operations/read.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { findRunningHost } from './relocation.store.ts'

/** Input of the operation that moves a site to another host. It runs on the host that has the site. */
export const RelocateOrder = Type.Object({ siteId: Type.Integer(), toHostId: Type.Integer() })
export type RelocateOrder = Type.Static<typeof RelocateOrder>

const copied = { directoryId: Type.Integer(), siteId: Type.Integer(), siteName: Type.String() }
const firstFiles = {
  ...copied,
  /** Name of the file backup in the repository of the site. */
  files: Type.String(),
}

/** A copy of a site that is served elsewhere, as input of an operation. */
export const Copied = Type.Object(copied)

/** Input of the work of the new host while the site is open. */
export const FirstFiles = Type.Object(firstFiles)
export type FirstFiles = Type.Static<typeof FirstFiles>

/** Input of its work while the site is closed. */
export const WholeContent = Type.Object({
  ...firstFiles,
  /** Name of the database backup in the repository of the site. */
  database: Type.String(),
  /** The host that has the site. */
  fromHostId: Type.Integer(),
  /** The homepage there. Null if it could not be requested. */
  page: Type.Union([PageMarks, Type.Null()]),
})
export type WholeContent = Type.Static<typeof WholeContent>

/** How often the old host reads how far the new one is. */
const LOOK_EVERY_MS = 100

/**
 * Waits until an operation on the new host has succeeded, and reports its progress.
 * @throws PermanentFailure when it has failed, or when that host stopped reporting
 */
export async function awaitNewHost(
  { services, input, signal, progress }: StepContext<RelocateOrder, HostServices>,
  operationId: number,
): Promise<void> {
  const { read } = services.database
  for (;;) {
    const operation = await findOperation(read, operationId)
    if (operation?.state === 'succeeded') return
    if (!operation || operation.finishedAt !== null)
      throw new PermanentFailure(operation?.error ?? 'The work on the new host was canceled')
    if (!(await findRunningHost(read, input.toHostId)))
      throw new PermanentFailure('The new host stopped reporting during the move')
    progress(operation.progress / 100)
    await pause(LOOK_EVERY_MS, undefined, { signal })
  }
}
