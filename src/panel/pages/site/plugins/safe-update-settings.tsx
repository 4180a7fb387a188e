import { useSignal } from '@preact/signals'
import { api, ask } from '../../../api.ts'
import { Button } from '../../../parts/button.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Form } from '../../../parts/form.tsx'
import { Skeleton } from '../../../parts/list.tsx'
import { told } from '../../../parts/toasts.tsx'
import { useLoad } from '../../../parts/use-load.ts'
import { safeUpdateSettingsTexts as texts } from '../../../texts/site/safe-update-settings.ts'

/** Which elements the pictures of a site leave out, and which pages its safe updates compare, too. */
export function SafeUpdateSettings({ id }: { readonly id: number }) {
  const isOpen = useSignal(false)
  return (
    <>
      <Button
        isSmall
        icon="settings"
        of="updateSafeUpdateSettings"
        onClick={() => {
          isOpen.value = true
        }}
      >
        {texts.open}
      </Button>
      {isOpen.value && <Settings id={id} onClose={() => (isOpen.value = false)} />}
    </>
  )
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

function Settings({ id, onClose }: { readonly id: number; onClose(): void }) {
  const path = { id }
  const settings = useLoad(() => ask(() => api.GET('/v1/sites/{id}/safe-update-settings', { params: { path } })), [id])
  const known = settings.got.value?.data
  return (
    <Dialog title={texts.title} onClose={onClose}>
      {settings.fault.value && <p class="fault">{settings.fault.value}</p>}
      {!known && !settings.fault.value && <Skeleton />}
      {known && (
        <Form
          fields={[
            { name: 'masks', label: texts.masks, hint: texts.masksHint, value: known.masks.join('\n'), ...list },
            { name: 'paths', label: texts.paths, hint: texts.pathsHint, value: known.paths.join('\n'), ...list },
          ]}
          button={texts.save}
          submit={async ({ masks = '', paths = '' }) => {
            const body = { masks: linesOf(masks), paths: linesOf(paths) }
            await ask(() => api.PUT('/v1/sites/{id}/safe-update-settings', { params: { path }, body }))
            told(texts.saved)
            onClose()
          }}
        />
      )}
    </Dialog>
  )
}

const list = { type: 'textarea', isOptional: true, autocomplete: 'off' } as const
