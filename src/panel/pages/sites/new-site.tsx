import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { sitesTexts as texts } from '../../texts/sites.ts'

/** Versions and kinds are those that the API has named. */
type Order = components['schemas']['NewSite']

export function NewSite(props: { onClose(): void; onCreated(operation: { id: number; name: string }): void }) {
  const versions = useLoad(() => ask(() => api.GET('/v1/sites/php-versions')))
  const kinds = useLoad(() => ask(() => api.GET('/v1/sites/install-options')))
  const [php, installs] = [versions.got.value?.data.toReversed(), kinds.got.value?.data]
  return (
    <Dialog title={texts.newSite} onClose={props.onClose}>
      <Form
        fields={[
          { name: 'name', label: texts.name, autocomplete: 'off', hint: texts.nameHint },
          { name: 'kind', label: texts.kind, options: Object.entries(texts.kinds) },
          { name: 'php_version', label: texts.php, options: php ?? [] },
          { name: 'install', label: texts.install, options: installs ?? [] },
          { name: 'network', label: texts.network, type: 'checkbox' },
        ]}
        button={texts.create}
        submit={async ({ name = '', kind, php_version, install, network }) => {
          const body: Order = {
            name,
            ...(php_version && { php_version: php_version as Order['php_version'] }),
            ...(install && { install: install as Order['install'] }),
            ...(kind === 'staging' && { staging: true }),
            ...(network && { multisite_support: true }),
          }
          const { operationId } = await ask(() => api.POST('/v1/sites', { body }))
          props.onClose()
          if (operationId !== undefined) props.onCreated({ id: operationId, name })
        }}
      />
    </Dialog>
  )
}
