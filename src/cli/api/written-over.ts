import type { Stead } from '../../sdk/index.ts'

type Arguments = Readonly<Record<string, unknown>>

/** Operations that write over a site which need not be the one that their path is of, and which that is by their fields. */
const overwriting: Readonly<Record<string, (args: Arguments) => unknown>> = {
  restoreSite: (args) => args.restore_on_site_id ?? args.site_id,
  syncSites: (args) => args.to_site_id,
  undoOperation: () => undefined,
}

/** Whether {@link siteWrittenOver} knows which site an operation of the API writes over. */
export const writesOver = (operationId: string): boolean => Object.hasOwn(overwriting, operationId)

/**
 * The site that an operation writes over, as it was given (by its number or its name); an undo's is that of what it takes back.
 * @returns undefined or null: it is of no site
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
