import type { Stead } from '../../sdk/index.ts'

type Arguments = Readonly<Record<string, unknown>>

/** Operations that overwrite a site which may differ from the one in their path, each with the field that names it. */
const overwriting: Readonly<Record<string, (args: Arguments) => unknown>> = {
  restoreSite: (args) => args.restore_on_site_id ?? args.site_id,
  syncSites: (args) => args.to_site_id,
  pushEnvironment: (args) => args.site_id,
  pullEnvironment: (args) => args.environment_id,
  undoOperation: () => undefined,
}

/** Returns whether {@link siteWrittenOver} knows the site that an operation of the API overwrites. */
export const writesOver = (operationId: string): boolean => Object.hasOwn(overwriting, operationId)

/**
 * Returns the site that an operation overwrites, as given (by number or name). For an undo, it is the site of the
 * undone operation.
 * @returns undefined or null if no site is overwritten
 */
export async function siteWrittenOver(
  stead: Stead,
  operationId: string,
  args: Arguments,
  signal?: AbortSignal,
): Promise<unknown> {
  if (operationId !== 'undoOperation') return overwriting[operationId]?.(args)
  const { data } = await stead.get('/v1/operations/{id}', {
    params: { path: { id: Number(args.id) } },
    ...(signal && { signal }),
  })
  return data.siteId
}
