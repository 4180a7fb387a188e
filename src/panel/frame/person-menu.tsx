import { api, ask } from '../api.ts'
import { firstSteps } from '../pages/sites/first-steps-wish.ts'
import { Menu, MenuItem } from '../parts/menu.tsx'
import { ownActions } from '../parts/palette.tsx'
import { attempt } from '../parts/toasts.tsx'
import { leave, person } from '../session.ts'
import { frameTexts as texts } from '../texts/frame.ts'
import { initialsOf } from './initials-of.ts'
import { type Theme, theme } from './theme.ts'

const themes = [
  ['system', 'monitor'],
  ['light', 'sun'],
  ['dark', 'moon'],
] as const satisfies readonly (readonly [Theme, string])[]

const signOut = attempt(async () => {
  await ask(() => api.DELETE('/v1/session'))
  leave()
})

const setTheme = (to: Theme) => () => {
  theme.value = to
}

const showFirstSteps = () => {
  firstSteps.value = 'shown'
  location.hash = '#/sites'
}

ownActions.value = {
  ...Object.fromEntries(themes.map(([each]) => [texts.themes[each], setTheme(each)])),
  [texts.signOut]: signOut,
}

/** The menu of the signed-in person: settings, colors, sign out. */
export function PersonMenu() {
  const { email = '', name = '' } = person.value ?? {}
  return (
    <Menu
      isUp
      class="nav"
      label={texts.personMenu}
      isNamedByButton
      button={
        <>
          <span class="avatar" data-initials={initialsOf(name)} /> <span class="hidden">{texts.signedInAs}</span>{' '}
          {email}
        </>
      }
    >
      <MenuItem icon="circleUser" to="#/account/you">
        {texts.profile}
      </MenuItem>
      <MenuItem icon="list" onClick={showFirstSteps}>
        {texts.firstSteps}
      </MenuItem>
      {themes.map(([each, icon]) => (
        <MenuItem key={each} icon={icon} isChosen={theme.value === each} onClick={setTheme(each)}>
          {texts.themes[each]}
        </MenuItem>
      ))}
      <MenuItem icon="logOut" onClick={signOut}>
        {texts.signOut}
      </MenuItem>
    </Menu>
  )
}
