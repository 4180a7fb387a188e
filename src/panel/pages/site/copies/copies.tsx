import { useSignal } from '@preact/signals'
import type { components } from '../../../../sdk/api.generated.ts'
import { api, ask } from '../../../api.ts'
import { askFirst } from '../../../parts/ask-first.tsx'
import { Button } from '../../../parts/button.tsx'
import { Card } from '../../../parts/card.tsx'
import { Change, Changes } from '../../../parts/changes.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Empty } from '../../../parts/empty.tsx'
import { Form } from '../../../parts/form.tsx'
import { HeadActions } from '../../../parts/head-actions.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { List } from '../../../parts/list.tsx'
import { Menu, MenuItem } from '../../../parts/menu.tsx'
import { useFigures } from '../../../parts/site-figures.ts'
import { type Chosen, SitePicker } from '../../../parts/site-picker.tsx'
import { StateOf } from '../../../parts/state-of.tsx'
import { Thumb } from '../../../parts/thumb.tsx'
import { attempt, told } from '../../../parts/toasts.tsx'
import { useLoad } from '../../../parts/use-load.ts'
import { environmentTexts as linkTexts, copiesTexts as texts } from '../../../texts/site/copies.ts'
import { readEnvironments } from '../environment-switch.tsx'
import type { PartProps } from '../part.ts'
import { UndoNote } from '../undo-note.tsx'
import { Sync } from './sync.tsx'

type Related = Pick<
  components['schemas']['FoundSite'],
  'id' | 'displayName' | 'name' | 'url' | 'staging' | 'state' | 'status'
> & { readonly relation: string; readonly link?: { readonly liveId: number; readonly environmentId: number } }

const include = { include: 'status' as const }

/** Clones of a site that the person sees. */
const clonesOf = (id: number) =>
  ask(() =>
    api.POST('/v1/sites/search', {
      params: { query: include },
      body: { filters: [{ key: 'cloned_from', value: String(id) }], per_page: 50 },
    }),
  )

const siteOf = (id: number) => ask(() => api.GET('/v1/sites/{id}', { params: { path: { id }, query: include } }))

/** The live site of a site, or its environments: those that it is linked with come first. */
async function relatedTo(
  site: PartProps['site'],
): Promise<{ data: { readonly sites: Related[]; readonly isLive: boolean } }> {
  const { live, environments } = (await readEnvironments(site.id)).data
  const isLive = live?.id === site.id
  const others = [
    ...(live && !isLive ? [{ id: live.id, relation: linkTexts.liveSite, environmentId: site.id }] : []),
    ...environments
      .filter(({ id }) => id !== site.id)
      .map(({ id }) => ({ id, relation: isLive ? linkTexts.environment : linkTexts.sibling, environmentId: id })),
  ]
  const linked = await Promise.all(
    others.map(async ({ id, relation, environmentId }) => ({
      ...(await siteOf(id)).data,
      relation,
      ...(live && (isLive || id === live.id) && { link: { liveId: live.id, environmentId } }),
    })),
  )
  const clones = (await clonesAround(site)).data.filter(({ id }) => !others.some((each) => each.id === id))
  return { data: { sites: [...linked, ...clones], isLive } }
}

/** The source of a site, its clones, and the other clones of its source. */
async function clonesAround({ id, clonedFromId }: PartProps['site']): Promise<{ data: Related[] }> {
  const clones = (await clonesOf(id)).data.map((each) => ({ ...each, relation: texts.copy }))
  if (clonedFromId === null) return { data: clones }
  const [source, siblings] = await Promise.all([
    // The source was deleted, or the person cannot see it.
    siteOf(clonedFromId).catch(() => undefined),
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
  const sites = related.got.value?.data.sites
  const isLive = related.got.value?.data.isLive ?? false
  const figures = useFigures(sites?.map((other) => other.id) ?? [])
  const isCloning = useSignal(false)
  const isChoosing = useSignal(false)
  const syncing = useSignal<
    { readonly other: Chosen; readonly isPush: boolean; readonly link?: Related['link'] } | undefined
  >(undefined)
  const begin = (other: Chosen, isPush: boolean, link?: Related['link']) => () => {
    isChoosing.value = false
    syncing.value = { other, isPush, link }
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
          from={{ fault: related.fault, got: { value: sites && { data: sites } } }}
          caption={texts.title}
          head={texts.head}
          hiddenHeads={texts.hiddenHeads}
          columns={['wide', 'extra', 'actions']}
          isStacked
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
                onClick={begin(chosen(other), false, other.link)}
              >
                {texts.pull}
              </Button>
              <Button
                isSmall
                icon="upload"
                of="downloadBackup"
                label={texts.pushTo(site.displayName, other.displayName)}
                onClick={begin(chosen(other), true, other.link)}
              >
                {texts.push}
              </Button>
              <LinkMenu site={site} other={other} isLive={isLive} reload={related.reload} />
            </span>,
          ]}
        />
      </Card>
      {isCloning.value && <Clone {...props} isLive={isLive} onClose={() => (isCloning.value = false)} />}
      {isChoosing.value && (
        <Dialog title={texts.other} onClose={() => (isChoosing.value = false)}>
          <SitePicker label={texts.choose} chosen={undefined} choose={(other) => begin(other, true)()} />
        </Dialog>
      )}
      {syncing.value && <Sync {...props} {...syncing.value} onClose={() => (syncing.value = undefined)} />}
    </>
  )
}

interface LinkProps {
  readonly site: PartProps['site']
  readonly other: Related
  /** Whether this site is a live site, which can have environments. */
  readonly isLive: boolean
  reload(): Promise<void>
}

/** Ends or makes the link of two sites. */
function LinkMenu({ site, other, isLive, reload }: LinkProps) {
  const { link } = other
  if (!link && !isLive) return null
  const button = <Icon name="ellipsis" />
  const environment = link?.environmentId === site.id ? site.displayName : other.displayName
  async function unlink(): Promise<void> {
    const path = { site_id: link?.liveId ?? 0, environment_id: link?.environmentId ?? 0 }
    await ask(() => api.DELETE('/v1/sites/{site_id}/environments/{environment_id}', { params: { path } }))
    told(linkTexts.unlinked(environment))
    await reload()
  }
  return (
    <Menu
      of={link ? 'unlinkEnvironment' : 'createEnvironment'}
      label={linkTexts.more(other.displayName)}
      class="ghost sm only-icon"
      button={button}
    >
      {link ? (
        <MenuItem
          icon="x"
          of="unlinkEnvironment"
          onClick={askFirst({
            title: linkTexts.unlink,
            text: linkTexts.unlinkIs(environment),
            button: linkTexts.unlink,
            go: unlink,
          })}
        >
          {linkTexts.unlink}
        </MenuItem>
      ) : (
        <MenuItem
          icon="gitBranch"
          of="createEnvironment"
          onClick={attempt(async () => {
            const params = { path: { id: site.id } }
            await ask(() => api.POST('/v1/sites/{id}/environments', { params, body: { site_id: other.id } }))
            told(linkTexts.linking(other.displayName))
            await reload()
          })}
        >
          {linkTexts.link}
        </MenuItem>
      )}
    </Menu>
  )
}

const Clone = ({ id, act, isLive, onClose }: PartProps & { readonly isLive: boolean; onClose(): void }) => (
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
        // A staging copy of a live site is linked to it.
        const got =
          body.staging && isLive
            ? await ask(() => api.POST('/v1/sites/{id}/environments', { params: { path: { id } }, body }))
            : await ask(() => api.POST('/v1/sites/{site_id}/clone', { params: { path: { site_id: id } }, body }))
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
