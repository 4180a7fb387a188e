import { api, ask } from '../../api.ts'
import { Icon } from '../../parts/icon.tsx'
import { May } from '../../parts/rights.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { environmentTexts as texts } from '../../texts/site/copies.ts'

/** Reads the live site of a site, with its environments. */
export const readEnvironments = (id: number) =>
  ask(() => api.GET('/v1/sites/{id}/environments', { params: { path: { id } } }))

/** Links to the live site and its environments. Without links, there is only the way to a first one. */
export function EnvironmentSwitch({ id }: { readonly id: number }) {
  const found = useLoad(() => readEnvironments(id), [id]).got.value?.data
  if (!found) return null
  const { live, environments } = found
  if (environments.length === 0) return null
  const only = environments.length === 1
  const links = [
    ...(live ? [{ id: live.id, text: texts.live, title: live.displayName }] : []),
    ...environments.map((each) => ({
      id: each.id,
      text: only && each.staging ? texts.staging : each.displayName,
      title: each.displayName,
    })),
  ]
  return (
    <nav class="segment" aria-label={texts.label}>
      {links.map((each) => (
        <a
          key={each.id}
          class="button"
          href={`#/sites/${each.id}`}
          title={each.title}
          aria-current={each.id === id ? 'page' : undefined}
        >
          {each.text}
        </a>
      ))}
      {live?.id === id && (
        <May do="createEnvironment" what={texts.add}>
          <a class="button only-icon" href={`#/sites/${id}/copies`} aria-label={texts.add}>
            <Icon name="plus" />
          </a>
        </May>
      )}
    </nav>
  )
}
