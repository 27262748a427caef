/** Copies a text, and says on the button for two seconds whether the browser has allowed it. Returns that too. */
export async function copy(text: string, button: HTMLElement): Promise<boolean> {
  const isCopied = await navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
  button.textContent = isCopied ? 'Copied' : 'Not allowed';
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 2_000);
  return isCopied;
}
