import { Icon } from '../parts/icon.tsx'
import { commonTexts } from '../texts/common.ts'
import type { Brand } from './brand.ts'
import { initialsOf } from './initials-of.ts'

/** A logo of this form has the name in it. */
const isWide = ({ width, height }: NonNullable<Brand['logo']>): boolean =>
  width !== null && height !== null && width >= 2 * height

/** Logo and name of an agency, or of Stead. */
export function BrandHead({ of, isShort }: { readonly of: Omit<Brand, 'color'> | null; readonly isShort?: boolean }) {
  if (!of)
    return (
      <>
        <span class="logo">
          <Icon name="house" />
        </span>
        {!isShort && commonTexts.title}
      </>
    )
  const { name, logo } = of
  /** Whether the logo stands for the name. */
  const isAlone = isShort || (logo !== null && isWide(logo))
  return (
    <>
      {logo ? (
        <img
          class="brand-logo"
          src={logo.location}
          width={logo.width ?? undefined}
          height={logo.height ?? undefined}
          alt={isAlone ? name : ''}
        />
      ) : (
        <span class="logo" data-initials={initialsOf(name)} />
      )}
      {!isAlone && <span class="brand-name">{name}</span>}
    </>
  )
}
