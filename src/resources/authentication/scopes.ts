/** All scopes, and which callers have them. */
export const scopes = {
  authorized: 'Every API application',
  owner: 'API applications with account owner permission',
}

/** The scopes of an application. */
export const scopesOf = (application: { is_owner: number }): string[] =>
  application.is_owner ? ['authorized', 'owner'] : ['authorized']
