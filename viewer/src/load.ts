// Starts a written page: its scripts are in it as gzip and base64, a third of their size. They run as inline scripts, which the
// policy of the page admits by their SHA-256 alone; the policy for trusted types is made once and kept here.
interface ScriptPolicy {
  createScript(text: string): unknown;
}

async function load(): Promise<void> {
  const factory = (globalThis as { trustedTypes?: { createPolicy(name: string, rules: ScriptPolicy): ScriptPolicy } })
    .trustedTypes;
  const policy = factory?.createPolicy('sarrus', { createScript: (text) => text });
  for (const id of ['vendor.js', 'app.js']) {
    const binary = atob(document.getElementById(id)?.textContent.trim() ?? '');
    const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
    const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
    const script = document.createElement('script');
    script.text = (policy ? policy.createScript(text) : text) as string;
    document.body.append(script);
  }
}

if (typeof DecompressionStream === 'undefined') {
  const words = document.createElement('p');
  words.className = 'message';
  words.textContent =
    'This browser cannot unpack the page: it has no DecompressionStream. Chromium 80, Firefox 113 and Safari 16.4 have it.';
  document.getElementById('app')?.append(words);
} else {
  void load();
}
