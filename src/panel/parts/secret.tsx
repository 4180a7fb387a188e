import { signal, useSignal } from '@preact/signals'
import { secretTexts as texts } from '../texts/parts.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

interface Secret {
  readonly title: string
  /** One value, or several with their names. */
  readonly value: string | readonly (readonly [name: string, value: string])[]
}

const shown = signal<Secret | undefined>(undefined)

/** Shows a value that is shown only once, such as a new password. */
export function showSecret(title: string, value: Secret['value']): void {
  shown.value = { title, value }
}

export function SecretDialog() {
  const secret = shown.value
  if (!secret) return null
  const { title, value } = secret
  return (
    <Dialog
      title={title}
      onClose={() => {
        shown.value = undefined
      }}
    >
      <p>{texts.once}</p>
      {typeof value === 'string' ? (
        <Copied value={value} />
      ) : (
        <dl class="stack">
          {value.map(([name, each]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <Copied value={each} of={name} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </Dialog>
  )
}

function Copied({ value, of }: { readonly value: string; readonly of?: string }) {
  const isCopied = useSignal(false)
  return (
    <p class="row">
      <code>{value}</code>
      <Button
        label={of && texts.copyOf(of)}
        onClick={() =>
          void navigator.clipboard?.writeText(value).then(() => {
            isCopied.value = true
          })
        }
      >
        {isCopied.value ? texts.copied : texts.copy}
      </Button>
      <span class="hidden" role="status">
        {isCopied.value && texts.copied}
      </span>
    </p>
  )
}
