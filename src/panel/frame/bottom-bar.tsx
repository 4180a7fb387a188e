import { Icon } from '../parts/icon.tsx'
import { openPalette } from '../parts/palette.tsx'
import { route } from '../route.ts'
import { commonTexts } from '../texts/common.ts'
import { frameTexts as texts } from '../texts/frame.ts'
import { mainPages } from './navigation.ts'
import { isSideOpen } from './side.tsx'

const shown = new Set(['sites', 'zones', 'operations'])

/** Navigation within reach of a thumb: the main pages, search, and a menu with the rest. */
export function BottomBar() {
  const [page = 'sites'] = route.value
  return (
    <nav class="bottom-bar" aria-label={texts.bar}>
      {mainPages
        .filter(({ name }) => shown.has(name))
        .map(({ name, icon }) => (
          <a key={name} href={`#/${name}`} aria-current={page === name ? 'page' : undefined}>
            <Icon name={icon} /> {texts.short[name as keyof typeof texts.short] ?? commonTexts.pages[name]}
          </a>
        ))}
      <button type="button" onClick={openPalette}>
        <Icon name="search" /> {texts.find}
      </button>
      <button
        type="button"
        aria-expanded={isSideOpen.value}
        onClick={() => {
          isSideOpen.value = !isSideOpen.value
        }}
      >
        <Icon name="menu" /> {texts.more}
      </button>
    </nav>
  )
}
