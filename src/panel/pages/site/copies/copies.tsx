import { useSignal } from '@preact/signals'
import type { components } from '../../../../sdk/api.generated.ts'
import { api, ask } from '../../../api.ts'
import { Button } from '../../../parts/button.tsx'
import { Card } from '../../../parts/card.tsx'
import { Change, Changes } from '../../../parts/changes.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Empty } from '../../../parts/empty.tsx'
import { Form } from '../../../parts/form.tsx'
import { HeadActions } from '../../../parts/head-actions.tsx'
import { List } from '../../../parts/list.tsx'
import { useFigures } from '../../../parts/site-figures.ts'
import { type Chosen, SitePicker } from '../../../parts/site-picker.tsx'
import { StateOf } from '../../../parts/state-of.tsx'
import { Thumb } from '../../../parts/thumb.tsx'
import { useLoad } from '../../../parts/use-load.ts'
import { copiesTexts as texts } from '../../../texts/site/copies.ts'
import type { PartProps } from '../part.ts'
import { UndoNote } from '../undo-note.tsx'
import { Sync } from './sync.tsx'

type Related = Pick<
  components['schemas']['FoundSite'],
  'id' | 'displayName' | 'name' | 'url' | 'staging' | 'state' | 'status'
> & { readonly relation: string }

const include = { include: 'status' as const }

/** Clones of a site that the person sees. */
const clonesOf = (id: number) =>
  ask(() =>
    api.POST('/v1/sites/search', {
      params: { query: include },
      body: { filters: [{ key: 'cloned_from', value: String(id) }], per_page: 50 },
    }),
  )

/** The source of a site, its clones, and the other clones of its source. */
async function relatedTo({ id, clonedFromId }: PartProps['site']): Promise<{ data: Related[] }> {
  const clones = (await clonesOf(id)).data.map((each) => ({ ...each, relation: texts.copy }))
  if (clonedFromId === null) return { data: clones }
  const params = { path: { id: clonedFromId }, query: include }
  const [source, siblings] = await Promise.all([
    // The source was deleted, or the person cannot see it.
    ask(() => api.GET('/v1/sites/{id}', { params })).catch(() => undefined),
    clonesOf(clonedFromId),
  ])
  return {
    data: [
      ...(source ? [{ ...source.data, relation: texts.source }] : []),
      ...clones,
      ...siblings.data.filter((each) => each.id !== id).map((each) => ({ ...each, relation: texts.sibling })),
    ],
  }
}

const chosen = ({ id, displayName, name }: Pick<Related, 'id' | 'displayName' | 'name'>): Chosen => ({
  ...{ id, name: displayName, slug: name },
})

/** The copies of the site, and syncs between them. */
export function Copies(props: PartProps) {
  const { site } = props
  const related = useLoad(() => relatedTo(site), [site.id])
  const figures = useFigures(related.got.value?.data.map((other) => other.id) ?? [])
  const isCloning = useSignal(false)
  const isChoosing = useSignal(false)
  const syncing = useSignal<{ readonly other: Chosen; readonly isPush: boolean } | undefined>(undefined)
  const begin = (other: Chosen, isPush: boolean) => () => {
    isChoosing.value = false
    syncing.value = { other, isPush }
  }
  const clone = () => {
    isCloning.value = true
  }
  return (
    <>
      <HeadActions>
        <Button isMain icon="copy" of="cloneSite" onClick={clone}>
          {texts.clone}
        </Button>
      </HeadActions>
      <UndoNote {...props} of={['site.sync']} />
      <Card
        title={texts.title}
        isFlush
        actions={
          <Button isSmall of="downloadBackup" onClick={() => (isChoosing.value = true)}>
            {texts.other}
          </Button>
        }
      >
        <List
          from={related}
          caption={texts.title}
          head={texts.head}
          hiddenHeads={texts.hiddenHeads}
          columns={['wide', 'extra', 'actions']}
          isCards
          empty={
            <Empty icon="gitBranch" title={texts.emptyTitle} text={texts.empty}>
              <Button isMain icon="copy" of="cloneSite" onClick={clone}>
                {texts.clone}
              </Button>
            </Empty>
          }
          row={(other) => [
            <span class="who">
              <Thumb id={other.id} picture={figures.get(other.id)?.pictureLocation} />
              <span>
                <span class="row">
                  <a class="name" href={`#/sites/${other.id}/copies`}>
                    {other.displayName}
                  </a>
                  <span class={`badge ${other.staging ? 'info' : ''}`}>{texts.badge[`${other.staging}`]}</span>
                </span>
                <span class="sub">{other.relation}</span>
              </span>
            </span>,
            <StateOf site={other} />,
            <span class="row nowrap">
              <Button
                isSmall
                icon="download"
                of="restoreSite"
                label={texts.pullFrom(site.displayName, other.displayName)}
                onClick={begin(chosen(other), false)}
              >
                {texts.pull}
              </Button>
              <Button
                isSmall
                icon="upload"
                of="downloadBackup"
                label={texts.pushTo(site.displayName, other.displayName)}
                onClick={begin(chosen(other), true)}
              >
                {texts.push}
              </Button>
            </span>,
          ]}
        />
      </Card>
      {isCloning.value && <Clone {...props} onClose={() => (isCloning.value = false)} />}
      {isChoosing.value && (
        <Dialog title={texts.other} onClose={() => (isChoosing.value = false)}>
          <SitePicker label={texts.choose} chosen={undefined} choose={(other) => begin(other, true)()} />
        </Dialog>
      )}
      {syncing.value && <Sync {...props} {...syncing.value} onClose={() => (syncing.value = undefined)} />}
    </>
  )
}

const Clone = ({ id, act, onClose }: PartProps & { onClose(): void }) => (
  <Dialog title={texts.clone} onClose={onClose}>
    <p>{texts.cloneIs}</p>
    <Form
      fields={[
        { name: 'name', label: texts.name, hint: texts.nameHint, autocomplete: 'off' },
        { name: 'kind', label: texts.kind, options: Object.entries(texts.kinds) },
      ]}
      button={texts.clone}
      submit={async ({ name = '', kind }) => {
        const body = { name, staging: kind === 'staging' }
        const params = { path: { site_id: id } }
        const got = await ask(() => api.POST('/v1/sites/{site_id}/clone', { params, body }))
        onClose()
        act(texts.cloning(name), async () => got)()
      }}
    >
      <Changes label={texts.cloned}>
        <Change kind="added">{texts.gets}</Change>
        <Change kind="added">{texts.address}</Change>
        <Change kind="kept">{texts.lacks}</Change>
      </Changes>
    </Form>
  </Dialog>
)
