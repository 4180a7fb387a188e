import { useSignal } from '@preact/signals'
import { askFirst, Confirm } from '../parts/ask-first.tsx'
import { Button } from '../parts/button.tsx'
import { CopyField } from '../parts/copy-field.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Filters } from '../parts/filters.tsx'
import { Form } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { icons } from '../parts/icons.ts'
import { Menu, MenuItem } from '../parts/menu.tsx'
import { RolePicker } from '../parts/role-picker.tsx'
import { showSecret } from '../parts/secret.tsx'
import { Segment } from '../parts/segment.tsx'
import { Select } from '../parts/select.tsx'
import { Switch, Toggle } from '../parts/switch.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { Tip } from '../parts/tip.tsx'
import { failed, told } from '../parts/toasts.tsx'
import { nothing, Specimen } from './specimen.tsx'

const looks = [
  { name: 'Default' },
  { name: 'Main', isMain: true },
  { name: 'Bad', isBad: true },
  { name: 'Ghost', isGhost: true },
] as const

const Buttons = () => (
  <Specimen name="Button">
    {[false, true].map((isSmall) => (
      <div key={String(isSmall)} class="row">
        {looks.map(({ name, ...look }) => (
          <Button key={name} {...look} isSmall={isSmall} onClick={nothing}>
            {name}
          </Button>
        ))}
        <Button icon="plus" isSmall={isSmall} onClick={nothing}>
          With an icon
        </Button>
        <Button icon="x" label="Icon alone" isSmall={isSmall} onClick={nothing} />
        <Button isDisabled isSmall={isSmall} onClick={nothing}>
          Disabled
        </Button>
      </div>
    ))}
  </Specimen>
)

const Menus = () => (
  <Specimen name="Menu">
    <div class="row">
      <Menu label="Actions" button="Actions">
        <MenuItem icon="copy">Action</MenuItem>
        <MenuItem isChosen>Chosen</MenuItem>
        <MenuItem isTicked>Ticked</MenuItem>
        <MenuItem isTicked={false}>Not ticked</MenuItem>
        <MenuItem to="#/">Link</MenuItem>
        <MenuItem isBad>Destructive</MenuItem>
      </Menu>
      <Menu label="More actions" class="ghost only-icon" button={<Icon name="ellipsis" />}>
        <MenuItem>Action</MenuItem>
      </Menu>
    </div>
  </Specimen>
)

function Choices() {
  const isOn = useSignal(true)
  const period = useSignal<'week' | 'month'>('week')
  return (
    <>
      <Specimen name="Switch">
        <div class="card">
          {[true, false].map((isRight) => (
            <Switch
              key={String(isRight)}
              label={isRight ? 'On' : 'Off'}
              help="What it does"
              isOn={isRight === isOn.value}
              turn={() => {
                isOn.value = !isOn.value
              }}
            />
          ))}
        </div>
        <Toggle label="Disabled" isOn isDisabled turn={nothing} />
      </Specimen>
      <Specimen name="Segment and select">
        <div class="row">
          <Segment
            label="Period"
            options={{ week: 'Week', month: 'Month' }}
            value={period.value}
            set={(to) => (period.value = to)}
          />
          <Select
            label="Period"
            options={{ week: 'Week', month: 'Month' }}
            value={period.value}
            set={(to) => (period.value = to)}
          />
        </div>
      </Specimen>
      <Specimen name="Tabs">
        <Tabs label="Tabs" tabs={{ one: 'First', two: 'Second', three: 'Third' }}>
          {(shown) => <p>Content of {shown}</p>}
        </Tabs>
      </Specimen>
    </>
  )
}

function Messages() {
  const isOpen = useSignal(false)
  return (
    <Specimen name="Dialog and toast">
      <div class="row">
        <Button onClick={() => (isOpen.value = true)}>Open dialog</Button>
        <Button
          onClick={askFirst({
            title: 'Delete my-shop?',
            text: 'Its backups are deleted, too.',
            button: 'Delete',
            name: 'my-shop',
            go: async () => told('Site deleted'),
          })}
        >
          Ask first
        </Button>
        <Button onClick={() => showSecret('Password', 'not-a-real-secret')}>Show secret</Button>
        <Button onClick={() => told('Cache purged')}>Message</Button>
        <Button onClick={() => told('Tag removed', nothing)}>Message with undo</Button>
        <Button onClick={() => failed(new Error('The host does not respond. Try again later.'))}>Failure</Button>
      </div>
      {isOpen.value && (
        <Dialog title="New site" onClose={() => (isOpen.value = false)}>
          <Form fields={[{ name: 'name', label: 'Name' }]} button="Create site" submit={async () => undefined} />
        </Dialog>
      )}
    </Specimen>
  )
}

const Forms = () => (
  <Specimen name="Form">
    <div class="grid-12">
      <div class="card s6">
        <div class="body">
          <Form
            fields={[
              { name: 'name', label: 'Text', hint: 'A hint below the field', placeholder: 'Placeholder' },
              { name: 'secret', label: 'Secret', type: 'password', autocomplete: 'off' },
              { name: 'count', label: 'Number', type: 'number', value: '3' },
              { name: 'kind', label: 'Choice', options: [['a', 'First'], 'Second'] },
              { name: 'body', label: 'Long text', type: 'textarea', isOptional: true },
              { name: 'agreed', label: 'Checkbox', type: 'checkbox', isChecked: true },
            ]}
            button="Save"
            submit={() => Promise.reject(new Error('The name is already taken. Choose another name.'))}
          />
        </div>
      </div>
      <div class="card s6">
        <div class="body">
          <Form fields={[]} button="Invite person" submit={async () => undefined}>
            <RolePicker held={[]} />
          </Form>
        </div>
      </div>
      <div class="card s6">
        <div class="body">
          <Confirm name="my-shop" button="Delete site" go={async () => told('Site deleted')} />
        </div>
      </div>
    </div>
  </Specimen>
)

export const Controls = () => (
  <>
    <Buttons />
    <Menus />
    <Choices />
    <Messages />
    <Forms />
    <Specimen name="Filters">
      <Filters
        of={[
          { name: 'status', label: 'Status', options: { live: 'Online', closed: 'Closed' } },
          { name: 'words', label: 'Words' },
        ]}
      />
    </Specimen>
    <Specimen name="Copy field and tooltip">
      <CopyField value="sftp -P 2222 my-shop@example.com" of="command" />
      <p>
        <Tip class="badge bad" text="The storage lost a part of this backup">
          Damaged
        </Tip>
      </p>
    </Specimen>
    <Specimen name="Icon">
      <div class="row">
        {(Object.keys(icons) as (keyof typeof icons)[]).map((name) => (
          <Tip key={name} text={name}>
            <Icon name={name} />
          </Tip>
        ))}
      </div>
    </Specimen>
  </>
)
