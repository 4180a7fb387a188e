import { useSignal } from '@preact/signals'
import { api, ask } from '../api.ts'
import { sitePickerTexts as texts } from '../texts/parts.ts'
import { Button } from './button.tsx'
import { useLoad } from './use-load.ts'

export interface Chosen {
  readonly id: number
  readonly name: string
  /** The name in its address. */
  readonly slug: string
}

const MOST = 8

/** Chooses a site among any number: the server searches by name. */
export function SitePicker(props: {
  readonly label: string
  readonly chosen: Chosen | undefined
  choose(site: Chosen): void
}) {
  const name = useSignal('')
  const found = useLoad(async () => {
    if (!name.value) return { data: [] }
    const body = { filters: [{ key: 'any' as const, value: name.value }], per_page: MOST }
    return ask(() => api.POST('/v1/sites/search', { body }))
  }, [name.value])
  return (
    <fieldset>
      <legend>{props.label}</legend>
      <p>{props.chosen?.name ?? texts.none}</p>
      <label>
        <span>{texts.search}</span>
        <input
          type="search"
          value={name.value}
          onInput={({ currentTarget }) => {
            name.value = currentTarget.value.trim()
          }}
        />
      </label>
      <p class="row">
        {found.got.value?.data.map((site) => (
          <Button
            key={site.id}
            onClick={() => {
              props.choose({ id: site.id, name: site.displayName, slug: site.name })
              name.value = ''
            }}
          >
            {site.displayName}
          </Button>
        ))}
        {name.value && found.got.value?.data.length === 0 && <span class="quiet">{texts.notFound}</span>}
      </p>
    </fieldset>
  )
}
