import { useSignal } from '@preact/signals'
import { api, ask } from '../../api.ts'
import { tagsTexts as texts } from '../../texts/site/overview.ts'
import type { PartProps } from './part.ts'

/** How the person's account arranges its sites: others have tags and favourites of their own. */
export function Tags({ site, act, id }: PartProps) {
  const params = { path: { id } }
  const typed = useSignal('')
  const add = (event: SubmitEvent) => {
    event.preventDefault()
    const name = typed.value.trim()
    if (!name) return
    act(texts.done, async () => {
      const got = await ask(() => api.POST('/v1/sites/{id}/tags', { params, body: { tag_names: [name] } }))
      typed.value = ''
      return got
    })()
  }
  return (
    <div class="row">
      <button
        type="button"
        aria-pressed={site.favorite}
        onClick={act(texts.favourite.true, () =>
          site.favorite
            ? ask(() => api.DELETE('/v1/sites/{id}/favorites', { params }))
            : ask(() => api.POST('/v1/sites/{id}/favorites', { params })),
        )}
      >
        {texts.favourite[`${site.favorite}`]}
      </button>
      {site.tags.map((tag) => (
        <span key={tag.id} class="tag">
          {tag.name}
          <button
            type="button"
            aria-label={texts.remove(tag.name)}
            onClick={act(texts.done, () =>
              ask(() => api.DELETE('/v1/sites/{id}/tags', { params, body: { tag_ids: [tag.id] } })),
            )}
          >
            ×
          </button>
        </span>
      ))}
      <form class="row" onSubmit={add}>
        <input
          aria-label={texts.add}
          placeholder={texts.add}
          value={typed.value}
          onInput={({ currentTarget }) => {
            typed.value = currentTarget.value
          }}
        />
        <button type="submit">{texts.addIt}</button>
      </form>
    </div>
  )
}
