import type { ComponentChildren } from 'preact'

/** Shows one component under its name. */
export const Specimen = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <section class="specimen" aria-label={name}>
    <h2>{name}</h2>
    {children}
  </section>
)

export const nothing = (): void => undefined
