import { useSignal } from '@preact/signals'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask, messageOf } from '../../api.ts'
import { accentTokensIn } from '../../frame/accent-tokens.ts'
import { BrandHead } from '../../frame/brand-head.tsx'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Form } from '../../parts/form.tsx'
import { attempt, told } from '../../parts/toasts.tsx'
import { type Loaded, useLoad } from '../../parts/use-load.ts'
import { person, session } from '../../session.ts'
import { brandingTexts as texts } from '../../texts/branding.ts'

type BrandingFields = components['schemas']['Branding']
type Change = components['schemas']['BrandingUpdate']

/** As the API has it. */
const MOST_BYTES = 200_000

/** Changes the branding, and the head of this page with it. */
async function change(body: Change): Promise<void> {
  await ask(() => api.PUT('/v1/account/branding', { body }))
  session.value = (await ask(() => api.GET('/v1/session'))).data
}

/** What clients of the account see. */
export function Branding() {
  const branding = useLoad<BrandingFields>(() => ask(() => api.GET('/v1/account/branding')))
  const known = branding.got.value?.data
  const typed = useSignal<Typed>({})
  return (
    <Card title={texts.title}>
      <p class="quiet">{texts.about}</p>
      <ul class="quiet">
        {texts.places.map((place) => (
          <li key={place}>{place}</li>
        ))}
      </ul>
      {branding.fault.value && <p class="fault">{branding.fault.value}</p>}
      {known && (
        <div
          class="branding"
          onInput={({ target }) => {
            const { name, value } = target as HTMLInputElement
            if (name === 'name' || name === 'color') typed.value = { ...typed.value, [name]: value.trim() }
          }}
        >
          <Form
            fields={[
              {
                ...{ name: 'name', label: texts.name, value: known.name ?? '' },
                ...{ hint: texts.nameHint, isOptional: true },
              },
              {
                ...{ name: 'color', label: texts.color, value: known.color ?? '' },
                ...{ hint: texts.colorHint, isOptional: true },
              },
              {
                ...{ name: 'replyTo', label: texts.replyTo, type: 'email', value: known.reply_to ?? '' },
                ...{ hint: texts.replyToHint, isOptional: true },
              },
            ]}
            button={texts.save}
            submit={async ({ name, color, replyTo }) => {
              await change({ name: name || null, color: color || null, reply_to: replyTo || null })
              told(texts.saved)
              await branding.reload()
            }}
          />
          <Logo branding={branding} location={known.logo_location} />
          <Preview known={known} typed={typed.value} />
        </div>
      )}
    </Card>
  )
}

type Typed = Partial<Record<'name' | 'color', string>>

/** The head of the panel as clients will see it, in both looks, with what is typed. */
function Preview({ known, typed }: { readonly known: BrandingFields; readonly typed: Typed }) {
  const name = (typed.name ?? known.name) || null
  const color = (typed.color ?? known.color) || null
  const own = session.value?.brand?.logo ?? null
  const hasBrand = name !== null || color !== null || known.logo_location !== null
  const of = hasBrand
    ? { name: name ?? person.value?.name ?? '', logo: known.logo_location === null ? null : own }
    : null
  return (
    <>
      <h3>{texts.preview}</h3>
      <div class="row brand-previews">
        {(['light', 'dark'] as const).map((look) => (
          <figure key={look} class={`brand-preview look-${look}`} style={accentTokensIn(look, color)}>
            <figcaption class="quiet small">{texts.looks[look]}</figcaption>
            <span class="brand">
              <BrandHead of={of} />
            </span>
            <span class="nav" aria-current="page">
              {texts.sample.chosen}
            </span>
            <p>
              <span class="button main">{texts.sample.button}</span> <span class="link">{texts.sample.link}</span>
            </p>
          </figure>
        ))}
      </div>
      {!hasBrand && <p class="quiet">{texts.previewOfStead}</p>}
    </>
  )
}

function Logo({ branding, location }: { readonly branding: Loaded<BrandingFields>; readonly location: string | null }) {
  const fault = useSignal('')
  /** Makes the browser fetch the picture again after a change. */
  const version = useSignal(0)
  const set = async (logo: string | null): Promise<void> => {
    await change({ logo })
    version.value++
    await branding.reload()
  }
  return (
    <form
      onSubmit={async (event) => {
        event.preventDefault()
        const form = event.currentTarget
        const file = form.querySelector<HTMLInputElement>('input[type=file]')?.files?.[0]
        fault.value = ''
        try {
          if (!file) return
          if (file.size > MOST_BYTES) throw new Error(texts.tooLarge)
          await set(toBase64(new Uint8Array(await file.arrayBuffer())))
          form.reset()
          told(texts.uploaded)
        } catch (error) {
          fault.value = messageOf(error)
        }
      }}
    >
      <h3>{texts.logo}</h3>
      {location === null && <p class="quiet">{texts.noLogo}</p>}
      {location !== null && (
        <p class="row">
          <img class="client-logo" src={`${location}?${version.value}`} alt={texts.logoAlt} />
          <Button
            isSmall
            onClick={attempt(async () => {
              await set(null)
              told(texts.removed)
            })}
          >
            {texts.remove}
          </Button>
        </p>
      )}
      <label>
        <span>{texts.chooseLogo}</span>
        <input type="file" name="logo" required accept="image/png,image/jpeg,image/webp" />
      </label>
      <button type="submit">{texts.upload}</button>
      <p class="fault" role="alert">
        {fault.value}
      </p>
    </form>
  )
}

/** In pieces, because a call accepts only so many arguments. */
function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = []
  for (let at = 0; at < bytes.length; at += 8192) pieces.push(String.fromCharCode(...bytes.subarray(at, at + 8192)))
  return btoa(pieces.join(''))
}
