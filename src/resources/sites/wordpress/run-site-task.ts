import type { TaskOptions } from '../../../hosting/php/pool/pool.ts'
import { PhpTaskError } from '../../../hosting/php/task-error.ts'
import type { TaskInput, TaskName, TaskOutput } from '../../../hosting/php/tasks.ts'
import { PermanentFailure } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'

interface SiteTaskOptions extends TaskOptions {
  /** Text before WordPress' own reason when it refuses. Default: "WordPress refused". */
  readonly refusal?: string
}

/**
 * Runs a task in the WordPress of an installed site, for a step of an operation.
 * @returns the site's answer, in the form that the task requires
 * @throws PermanentFailure when the site is not installed, and when its WordPress refuses or answers in another form,
 * because it would do so again; PhpBusy, PhpTimeout, PhpCrashed, which a retry may solve
 */
export async function runSiteTask<Name extends TaskName>(
  services: Pick<HostServices, 'hostedSite' | 'pool'>,
  siteId: number,
  name: Name,
  input: TaskInput<Name>,
  { refusal = 'WordPress refused', ...options }: SiteTaskOptions = {},
): Promise<TaskOutput<Name>> {
  const hosted = await services.hostedSite(siteId)
  if (!hosted) throw new PermanentFailure('The site is not installed yet')
  try {
    return await services.pool.runTask(hosted, name, input, options)
  } catch (error) {
    if (error instanceof PhpTaskError) throw new PermanentFailure(`${refusal}: ${error.message}`)
    throw error
  }
}
