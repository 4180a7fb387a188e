import { useSignal } from '@preact/signals'
import { secretTexts as texts } from '../texts/parts.ts'
import { Button } from './button.tsx'

const SHOWN_MS = 2000

/** A value to paste elsewhere, with a button that copies it. */
export function CopyField({ value, of }: { readonly value: string; readonly of: string }) {
  const isCopied = useSignal(false)
  return (
    <div class="copy">
      <code>{value}</code>
      <Button
        isGhost
        isSmall
        icon={isCopied.value ? 'check' : 'copy'}
        label={isCopied.value ? texts.copied : texts.copyOf(of)}
        onClick={() =>
          void navigator.clipboard?.writeText(value).then(() => {
            isCopied.value = true
            setTimeout(() => {
              isCopied.value = false
            }, SHOWN_MS)
          })
        }
      />
      <span class="hidden" role="status">
        {isCopied.value && texts.copied}
      </span>
    </div>
  )
}
