import { useSignal } from '@preact/signals'
import { api, ask } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { tagsTexts as texts } from '../../texts/site/overview.ts'
import type { PartProps } from './part.ts'

/** How the person's account arranges its sites. Other accounts have their own tags and favorites. */
export function Favorite({ site, act, id }: PartProps) {
  const params = { path: { id } }
  return (
    <button
      type="button"
      class="star"
      aria-pressed={site.favorite}
      aria-label={texts.favorite}
      onClick={act(texts.favoriteDone, () =>
        site.favorite
          ? ask(() => api.DELETE('/v1/sites/{id}/favorites', { params }))
          : ask(() => api.POST('/v1/sites/{id}/favorites', { params })),
      )}
    >
      <Icon name="star" />
    </button>
  )
}

export function Tags({ site, act, id }: PartProps) {
  const params = { path: { id } }
  const isAdding = useSignal(false)
  return (
    <>
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
            <Icon name="x" />
          </button>
        </span>
      ))}
      <Button isGhost isSmall icon="tag" label={texts.add} onClick={() => (isAdding.value = true)} />
      {isAdding.value && (
        <Dialog title={texts.add} onClose={() => (isAdding.value = false)}>
          <Form
            fields={[{ name: 'name', label: texts.name, autocomplete: 'off' }]}
            button={texts.add}
            submit={async ({ name = '' }) => {
              const body = { tag_names: [name.trim()] }
              const got = await ask(() => api.POST('/v1/sites/{id}/tags', { params, body }))
              isAdding.value = false
              act(texts.done, async () => got)()
            }}
          />
        </Dialog>
      )}
    </>
  )
}
