import { api, ask } from '../api.ts'
import { useLoad } from './use-load.ts'

/** Loads the paths of the newest screenshots of sites, by ID, for `Thumb`. A site without one has null. */
export function usePictures(ids: readonly number[]): ReadonlyMap<number, string | null> {
  const found = useLoad(async () => {
    if (ids.length === 0) return { data: [] }
    return ask(() => api.POST('/v1/sites/statistics', { body: { site_ids: [...ids] } }))
  }, [ids.join()])
  return new Map(found.got.value?.data.map(({ id, pictureLocation }) => [id, pictureLocation]))
}
