import Cache

/// The service worker, which keeps pages and pictures that were seen for when the store cannot be reached.
///
/// The network comes first, always: what is kept is shown in place of an error alone, and says so. The basket, orders
/// and every form are never kept. When another server has taken the store's place at its address, the worker leaves.
enum StoreWorker {
  /// The worker's script.
  ///
  /// - Parameter paths: what is kept from the beginning.
  /// - Returns: JavaScript.
  static func text(keeping paths: [String]) -> String {
    let list = PageData.list(paths.map(PageData.text))
    // Other files make another worker, which browsers then install.
    return "'use strict';\nconst FILES=\(list);\n" + script
  }

  private static let script = #"""
    const PAGES='larder-pages',PARTS='larder-parts',MOST={[PAGES]:100,[PARTS]:600};
    const isKept=path=>path==='/'||path==='/search'||/^\/(items|sections)\//.test(path);
    const isPage=path=>isKept(path)||/^\/(basket|orders|away)/.test(path);
    addEventListener('install',e=>e.waitUntil((async()=>{
      const cache=await caches.open(PARTS);
      await cache.addAll(FILES.map(path=>new Request(path,{cache:'reload'})));
      await skipWaiting();
    })()));
    addEventListener('activate',e=>e.waitUntil(clients.claim()));
    const keep=async(name,key,answer)=>{
      const cache=await caches.open(name);
      await cache.delete(key);
      await cache.put(key,answer);
      const keys=await cache.keys();
      for(const old of keys.slice(0,Math.max(0,keys.length-MOST[name])))
        if(!FILES.includes(new URL(old.url).pathname))await cache.delete(old);
    };
    // The page as it was, marked as such.
    const marked=async answer=>{
      const text=(await answer.text()).replace('<html ','<html data-away ');
      return new Response(text,{headers:{'content-type':'text/html; charset=utf-8',
        'content-security-policy':answer.headers.get('content-security-policy')}});
    };
    const leave=async()=>{
      await registration.unregister();
      for(const name of [PAGES,PARTS])await caches.delete(name);
    };
    const page=async(e,url)=>{
      // An item is one page, whatever its address says besides.
      const key=url.origin+url.pathname+(url.pathname.startsWith('/items/')?'':url.search);
      try{
        const answer=await fetch(e.request);
        if(answer.status===200&&!answer.headers.has('larder-store'))e.waitUntil(leave());
        else if(answer.status===200&&isKept(url.pathname)&&!url.searchParams.has('added'))
          e.waitUntil(keep(PAGES,key,answer.clone()));
        return answer;
      }catch(error){
        const held=(isKept(url.pathname)?await (await caches.open(PAGES)).match(key):null)
          ??await (await caches.open(PARTS)).match('/away');
        if(!held)throw error;
        return marked(held);
      }
    };
    const part=async e=>{
      const cache=await caches.open(PARTS);
      // A name with a digest in it is never another file.
      if(/\/assets\/store-[0-9a-f]{12}\./.test(e.request.url)){
        const held=await cache.match(e.request);
        if(held)return held;
      }
      try{
        const answer=await fetch(e.request);
        if(answer.status===200)e.waitUntil(keep(PARTS,e.request.url,answer.clone()));
        return answer;
      }catch(error){
        const held=await cache.match(e.request.url)
          ??await cache.match(e.request.url,{ignoreSearch:true});
        if(held)return held;
        return new Response('',{status:504});
      }
    };
    addEventListener('fetch',e=>{
      const url=new URL(e.request.url);
      if(e.request.method!=='GET'||url.origin!==location.origin)return;
      if(e.request.mode==='navigate'&&isPage(url.pathname))e.respondWith(page(e,url));
      else if(/^\/(assets|images)\//.test(url.pathname)&&!url.pathname.endsWith('worker.js'))
        e.respondWith(part(e));
    });

    """#
}
